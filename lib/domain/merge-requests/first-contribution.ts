import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { effectiveAccess, MembershipCache } from '../access/effective-level.ts';
import { GUEST } from '../access/levels.ts';
import { resourceOf } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** Whether its author is no member of the project above Guest, and has none there that is merged. */
export async function isFirstContribution(
  deps: Deps,
  actor: Actor,
  { project, level }: ProjectAccess,
  { author: { id }, projectId }: MergeRequestRecord,
): Promise<boolean> {
  if (project.namespaceKind === 'user' && project.ownerId === id) return false;
  const isOwn = actor.kind === 'user' && actor.user.id === id;
  const [access, hasMerged] = await Promise.all([
    isOwn ? { level } : effectiveAccess(new MembershipCache(deps), resourceOf(project), id),
    deps.store.mergeRequests.hasMerged(projectId, id),
  ]);
  return (access?.level ?? 0) <= GUEST && !hasMerged;
}
