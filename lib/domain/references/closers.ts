/** Lists merge requests at the issues that they say they close. */
import { MAX_CLOSES, type MergeRequestAddress } from '../../records/merge-requests.ts';
import { can } from '../access/permissions.ts';
import type { Deps } from '../deps.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import type { WrittenInProject } from './mentioning.ts';
import { issuesToBeClosed } from './to-be-closed.ts';

/**
 * Lists a merge request at the issues that its title, its description and the messages of its commits close once it is
 * merged into the default branch, as far as their writer sees them, and takes it off others.
 */
export async function listCloser(
  deps: Deps,
  address: MergeRequestAddress,
  reading: WrittenInProject,
): Promise<void> {
  const { actor, project } = reading;
  if (!can(actor, project, 'read_merge_requests')) return;
  await retryWhileStale(async () => {
    const mergeRequest = await deps.store.mergeRequests.get(address);
    if (mergeRequest === undefined) return;
    const closed = await issuesToBeClosed(deps, reading, mergeRequest);
    const issues = closed.map(({ issue }) => issue).slice(0, MAX_CLOSES);
    await deps.store.closing.set(mergeRequest, issues);
  });
}
