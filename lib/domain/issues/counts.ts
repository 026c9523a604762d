import { ISSUE_CLASSES } from '../../records/issues.ts';
import type { Deps } from '../deps.ts';

const OPEN = ISSUE_CLASSES.filter((listClass) => listClass.startsWith('opened'));

/** How many open issues a user has to work on, up to 10,000. */
export const countAssignedIssues = ({ store }: Deps, userId: number): Promise<number> =>
  store.issueList.countOfPerson('assignee', userId, OPEN);

/** How many issues a user wrote, up to 10,000. */
export const countWrittenIssues = ({ store }: Deps, userId: number): Promise<number> =>
  store.issueList.countOfPerson('author', userId, ISSUE_CLASSES);
