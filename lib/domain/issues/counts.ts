import { ISSUE_CLASSES, type IssueClass } from '../../records/issues.ts';
import { issueRanges } from '../../store/issues/kind.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Listable } from '../../store/tracked/list.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

const OPEN = ISSUE_CLASSES.filter((listClass) => listClass.startsWith('opened'));

/** How many open issues a user has to work on, up to 10,000. */
export const countAssignedIssues = ({ store }: Deps, userId: number): Promise<number> =>
  store.issueList.countOfPerson('assignee', userId, OPEN);

/** How many issues a user wrote, up to 10,000. */
export const countWrittenIssues = ({ store }: Deps, userId: number): Promise<number> =>
  store.issueList.countOfPerson('author', userId, ISSUE_CLASSES);

export interface IssueCounts {
  readonly total: number;
  readonly closed: number;
}

/** Issues counted in each state, and milestones counted at the same time. */
const MAX_OF_MILESTONE = 10_000;
const CONCURRENCY = 8;

/** Which issues of a project count for a reader: who may not see all confidential ones counts none of them. */
export function countedFor(actor: Actor, access: ProjectAccess): Listable {
  if (!can(actor, access, 'read_issues')) return 'none';
  return can(actor, access, 'read_confidential_issues') ? 'all' : 'plain';
}

/** Counts the issues of a project with each of these milestones, by their ids. */
export async function countOfMilestones(
  { store }: Deps,
  projectId: number,
  counted: Listable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, IssueCounts>> {
  const counts = new Map<number, IssueCounts>();
  const countOf = (id: number, state: 'opened' | 'closed') => {
    const classes: IssueClass[] = counted === 'all' ? [state, `${state}-confidential`] : [state];
    const sources = [issueRanges.by(projectId, 'milestone', id, classes)];
    return store.issueList.count({ sources, direction: 'desc', page: 1, perPage: 20 }, MAX_OF_MILESTONE);
  };
  await mapLimit(CONCURRENCY, [...ids], async (id) => {
    const [opened, closed] =
      counted === 'none' ? [0, 0] : await Promise.all([countOf(id, 'opened'), countOf(id, 'closed')]);
    counts.set(id, { total: opened + closed, closed });
  });
  return counts;
}
