/** Commits that a merge request proposes: these are not told that it names them. */
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import type { MergeRequestAddress } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';

/** @returns a test whether a commit is one of them. @param access the project of the merge request */
export async function proposedCommits(
  deps: Deps,
  access: ProjectAccess,
  address: MergeRequestAddress,
): Promise<(commit: Oid) => Promise<boolean>> {
  const mergeRequest = await deps.store.mergeRequests.get(address);
  if (mergeRequest === undefined) return async () => false;
  const { headSha, startSha } = mergeRequest.diff;
  const { history } = codeOf(deps, access);
  return async (commit) => {
    try {
      return (
        (await history.isAncestor(commit, headSha as Oid)) &&
        !(await history.isAncestor(commit, startSha as Oid))
      );
    } catch (error) {
      // One of another repository; of a history that is too long nothing is told.
      if (error instanceof ObjectMissing) return false;
      if (error instanceof HistoryLimit) return true;
      throw error;
    }
  };
}
