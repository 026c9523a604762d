import type { AuthorSnapshot } from '../../records/authors.ts';
import type { Remover, UserRow } from '../deletion/remover.ts';
import { Missing, Stale } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { idOf } from '../row-keys/key.ts';
import { iidOf } from '../row-keys/tracked.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { NO_SURROUNDINGS } from '../tracked/kind.ts';
import type { MergeRequests } from './merge-requests.ts';
import { removeOfSource } from './open.ts';

interface Stores {
  readonly table: Table;
  readonly mergeRequests: MergeRequests;
  readonly outbox: Outbox;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: [
      'merge-request',
      'merge-request-in-list',
      'merge-request-by',
      'merge-request-word',
      'merge-request-count',
      'merge-request-iid',
      'merge-request-id',
      'merge-request-source',
      'merge-request-collaboration',
      'merge-request-commit',
      'diff-version',
    ],
    run: async (stores, { id, deleterId = null }, deadline) =>
      (await untilNoneLeft(() => stores.mergeRequests.removeOfProject(id), deadline)) &&
      untilNoneLeft(() => removeOfSource(stores, id, deleterId), deadline),
  },
  ofUserRows: {
    rows: ['merge-request', 'merge-request-by'],
    byRow: {
      MR: ({ mergeRequests }, row, { userId, hard, ghost }) =>
        leave(mergeRequests, row, userId, hard ? undefined : ghost),
    },
  },
};

/** Takes a deleted user off a merge request. @param heir its author from then on; undefined: it is deleted */
async function leave(
  mergeRequests: MergeRequests,
  { pk, sk }: UserRow,
  userId: number,
  heir: AuthorSnapshot | undefined,
): Promise<void> {
  const record = await mergeRequests.get({ projectId: idOf(pk), iid: iidOf(sk) });
  if (record === undefined) return;
  const isAuthor = record.author.id === userId;
  const others = (ids: readonly number[]) => ids.filter((id) => id !== userId);
  try {
    if (isAuthor && heir === undefined) await mergeRequests.remove(record, NO_SURROUNDINGS);
    else {
      const change = {
        assigneeIds: others(record.assigneeIds),
        reviewerIds: others(record.reviewerIds),
        approvals: record.approvals.filter((approval) => approval.userId !== userId),
        ...(isAuthor && heir !== undefined ? { author: heir } : {}),
      };
      await mergeRequests.update(record, change, NO_SURROUNDINGS);
    }
  } catch (error) {
    // The next run finds the row again.
    if (!(error instanceof Stale || error instanceof Missing)) throw error;
  }
}
