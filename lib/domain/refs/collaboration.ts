/** Branches of forks that members of the project they are proposed to may push to. */

import type { CollaborationBranch } from '../../store/merge-requests/merge-requests.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type BranchProtection, branchProtection } from './protection.ts';

/** Open merge requests of a fork that are looked at. */
const MAX_PROPOSED = 100;

/**
 * The access with which an actor pushes: their own, or that of a collaborator, to branches of a fork that are proposed to
 * a branch which they may push to or merge into. Reads nothing where their own is enough.
 * @param branch the only branch in question
 * @returns undefined for who may push nowhere
 */
export async function pushAccess(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  branch?: string,
): Promise<ProjectAccess | undefined> {
  if (can(actor, access, 'push_code')) return access;
  // A collaborator reads the fork by their own right: proposing a branch shows nobody the rest of a private project.
  const reads = actor.kind === 'user' && can(actor, access, 'read_code');
  if (!reads || access.project.archived) return undefined;
  const proposed = await deps.store.mergeRequests.collaborations(access.project.id, MAX_PROPOSED, branch);
  const targetIds = [...new Set(proposed.map(({ projectId }) => projectId))];
  if (targetIds.length === 0) return undefined;
  const targets = await projectAccesses(deps, actor, targetIds);
  const open = await Promise.all(
    targets.map(async (target, i) => {
      const into = proposed.filter(({ projectId }) => projectId === targetIds[i]);
      return target === undefined ? [] : updatable(deps, actor, target, into);
    }),
  );
  const collaboration = new Set(open.flat());
  return collaboration.size === 0 ? undefined : { ...access, collaboration };
}

/**
 * What tells which branches an actor may push to, also of those that a fork shares with them. It reads no more than
 * `branchProtection` does where their own access is enough, and of what is no fork.
 * @param branch the only branch in question
 */
export async function pushProtection(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  branch?: string,
): Promise<BranchProtection> {
  const isFork = access.project.forkedFromId !== undefined;
  const pushing = isFork ? await pushAccess(deps, actor, access, branch) : undefined;
  return branchProtection(deps, pushing ?? access, actor);
}

/** The source branches of those whose target branch the actor may update. */
async function updatable(
  deps: Deps,
  actor: Actor,
  target: ProjectAccess,
  proposed: readonly CollaborationBranch[],
): Promise<string[]> {
  if (!can(actor, target, 'push_code')) return [];
  const protection = await branchProtection(deps, target, actor);
  return proposed
    .filter(({ targetBranch }) => protection.mayUpdate(actor, targetBranch))
    .map(({ sourceBranch }) => sourceBranch);
}
