import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import type { FoundMergeRequest } from './related.ts';

/** @throws `404 Not found`, also where the actor may not see it */
export async function getMergeRequest(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<FoundMergeRequest> {
  const mergeRequest = await deps.store.mergeRequests.get({ projectId: access.project.id, iid });
  if (mergeRequest === undefined || !can(actor, access, 'read_merge_requests')) throw recordNotFound();
  return { mergeRequest, access };
}
