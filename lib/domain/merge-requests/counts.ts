import { MERGE_REQUEST_STATES } from '../../records/merge-requests.ts';
import type { Deps } from '../deps.ts';

/** How many open merge requests a user has to work on, and has to review; each up to 10,000. */
export async function countWaitingMergeRequests(
  { store }: Deps,
  userId: number,
): Promise<{ readonly assigned: number; readonly toReview: number }> {
  const [assigned, toReview] = await Promise.all([
    store.mergeRequestList.countOfPerson('assignee', userId, ['opened']),
    store.mergeRequestList.countOfPerson('reviewer', userId, ['opened']),
  ]);
  return { assigned, toReview };
}

/** How many merge requests a user wrote, up to 10,000. */
export const countWrittenMergeRequests = ({ store }: Deps, userId: number): Promise<number> =>
  store.mergeRequestList.countOfPerson('author', userId, MERGE_REQUEST_STATES);
