import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectRecord } from '../../records/projects.ts';
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
  const [held, hasMerged] = await Promise.all([
    isOwn ? level : levelOf(deps, project, id),
    deps.store.mergeRequests.hasMerged(projectId, id),
  ]);
  return held <= GUEST && !hasMerged;
}

/** One round trip, where nothing is shared with other groups. */
async function levelOf(deps: Deps, project: ProjectRecord, userId: number): Promise<number> {
  const memberships = new MembershipCache(deps);
  const { ancestorIds } = project;
  const groups = ancestorIds.map((id) => ({ kind: 'group', id }) as const);
  await memberships.read(ancestorIds, [{ kind: 'project', id: project.id }, ...groups], userId);
  return (await effectiveAccess(memberships, resourceOf(project), userId))?.level ?? 0;
}
