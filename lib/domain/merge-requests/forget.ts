/** What a deleted merge request leaves in the repository of its target. */

import { ZERO_OID } from '../../git/oid.ts';
import type { MergeRequestAddress } from '../../records/merge-requests.ts';
import type { Deps } from '../deps.ts';
import { openRepository } from '../repository/open.ts';
import { mergeRef } from './merge-ref.ts';
import { headRef } from './versions.ts';

/**
 * Removes the versions of a deleted merge request and what kept their commits, and then its refs, which lets maintenance
 * look for what nothing reaches any more. May run twice, and goes on where it stopped.
 * @param deadline milliseconds since 1970; no page of versions begins after it
 * @returns whether nothing is left
 */
export async function forgetVersions(
  deps: Deps,
  address: MergeRequestAddress,
  deadline: number,
): Promise<boolean> {
  const project = await deps.store.projects.get(address.projectId);
  // What there was of a project goes with it.
  if (project === undefined) return true;
  while (await deps.store.mergeRequests.forgetVersions(address, project.repositoryId))
    if (Date.now() > deadline) return false;
  const { refs } = openRepository(deps, project).together({ writes: [], quiet: true });
  const left = await refs.get([headRef(address.iid), mergeRef(address.iid)]);
  const updates = [...left.values()].map(({ name, oid }) => ({ name, from: oid, to: ZERO_OID }));
  if (updates.length > 0) await refs.compareAndSwap(updates);
  return true;
}
