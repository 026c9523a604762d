import type { AuthorSnapshot } from '../../records/authors.ts';
import type { Remover, UserRow } from '../deletion/remover.ts';
import { Missing, Stale } from '../errors.ts';
import { idOf } from '../row-keys/key.ts';
import { iidOf } from '../row-keys/tracked.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import { NO_SURROUNDINGS } from '../tracked/kind.ts';
import type { Issues } from './issues.ts';
import type { IssueLinks } from './links.ts';

interface Stores {
  readonly issues: Issues;
  readonly issueLinks: IssueLinks;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: [
      ...([
        'issue',
        'issue-in-list',
        'issue-by',
        'issue-word',
        'issue-count',
        'issue-iid',
        'issue-agent',
        'issue-copy',
        'issue-id',
      ] as const),
      ...(['issue-link', 'issue-link-count'] as const),
    ],
    // Relations first: their rows at issues of other projects are found by these.
    run: async ({ issues, issueLinks }, { id }, deadline) =>
      (await untilNoneLeft(() => issueLinks.removeOfProject(id), deadline)) &&
      untilNoneLeft(() => issues.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['issue', 'issue-by'],
    byRow: {
      ISSUE: ({ issues }, row, { userId, hard, ghost }) =>
        leave(issues, row, userId, hard ? undefined : ghost),
    },
  },
};

/** Takes a deleted user off an issue. @param heir its author from then on; undefined: the issue is deleted */
async function leave(
  issues: Issues,
  { pk, sk }: UserRow,
  userId: number,
  heir: AuthorSnapshot | undefined,
): Promise<void> {
  const issue = await issues.get({ projectId: idOf(pk), iid: iidOf(sk) });
  if (issue === undefined) return;
  const isAuthor = issue.author.id === userId;
  try {
    if (isAuthor && heir === undefined) await issues.remove(issue, NO_SURROUNDINGS);
    else {
      const assigneeIds = issue.assigneeIds.filter((id) => id !== userId);
      const author = isAuthor && heir !== undefined ? { author: heir } : {};
      await issues.update(issue, { assigneeIds, ...author }, NO_SURROUNDINGS);
    }
  } catch (error) {
    // The next run finds the row again.
    if (!(error instanceof Stale || error instanceof Missing)) throw error;
  }
}
