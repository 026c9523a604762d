import { isOidLike, shortName, spaceOf } from '../../git/refname.ts';
import { GitRepository } from '../../git/repository.ts';
import type { PushUpdate } from '../../git/wire/push-update.ts';
import type { IncomingPush } from '../../git/wire/receive-pack.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { ownedChangeRefusal } from '../code-owners/owned-change.ts';
import type { Deps } from '../deps.ts';
import type { PushedPointers } from '../lfs/pushed-pointers.ts';
import {
  BRANCH_REFUSALS,
  type BranchProtection,
  maintains,
  refProtection,
  TAG_REFUSALS,
  type TagProtection,
} from '../refs/protection.ts';
import { openRepository } from '../repository/open.ts';
import { sizeExcess } from '../repository/size-limits.ts';
import { started } from '../started.ts';

/**
 * Checks each ref update of a push against the project's protection rules and the repository size limit, both of which are
 * read while the push is being received, against the code owners of what it changes, where a rule asks for them, and against
 * the objects of Git LFS that what it brings refers to, and the locks of their files.
 * @param pointers those that the push brings
 * @returns the reason of a refusal, in one line; undefined if the update is allowed
 */
export function pushPolicy(
  deps: Deps,
  { actor, project: access }: { readonly actor: Actor; readonly project: ProjectAccess },
  pointers: PushedPointers,
): (update: PushUpdate, push: IncomingPush) => Promise<string | undefined> {
  const reading = started(refProtection(deps, access, actor));
  const sizeLimit = started(sizeRefusal(deps, access));
  const isMember = can(actor, access, 'push_code');
  return async (update, { store }) => {
    if (!isMember && !(await collaborates(actor, reading, update))) return NOT_ALLOWED;
    const space = spaceOf(update.name);
    // Those that exist may be deleted.
    if (space !== undefined && update.kind !== 'delete' && isOidLike(shortName(update.name)))
      return (space === 'heads' ? BRANCH_REFUSALS : TAG_REFUSALS).oidLike;
    const { branches, tags } = await reading;
    const refusal = update.kind === 'delete' ? undefined : await sizeLimit;
    if (refusal !== undefined) return refusal;
    const protection = update.name.startsWith('refs/heads/')
      ? branchRefusal(actor, access, branches, update)
      : update.name.startsWith('refs/tags/')
        ? tagRefusal(actor, access, tags, update)
        : undefined;
    if (protection !== undefined || update.kind === 'delete') return protection;
    // A new branch has no CODEOWNERS yet.
    if (
      space === 'heads' &&
      update.kind === 'update' &&
      branches.asksOwnersOf(actor, shortName(update.name))
    ) {
      const git = new GitRepository({ ...openRepository(deps, access.project), store });
      const owned = await ownedChangeRefusal(git, update.from, { to: { oid: update.to } });
      if (owned !== undefined) return owned;
    }
    const locked = space === 'heads' && { actor, project: access.project };
    return (
      (await pointers.refusal(deps, access.project)) ??
      (locked ? pointers.lockRefusal(deps, locked, update.to, store) : undefined)
    );
  };
}

const NOT_ALLOWED = 'You are not allowed to push code to this project.';

/** Whether it goes on with a branch that a merge request shares. */
async function collaborates(
  actor: Actor,
  reading: Promise<{ readonly branches: BranchProtection }>,
  { name, kind }: PushUpdate,
): Promise<boolean> {
  if (kind !== 'update' || !name.startsWith('refs/heads/')) return false;
  return (await reading).branches.mayPush(actor, shortName(name));
}

/** The refusal of a repository that exceeds its size limit. */
async function sizeRefusal(deps: Deps, { project }: ProjectAccess): Promise<string | undefined> {
  const excess = await sizeExcess(deps, project);
  return (
    excess &&
    `Your push has been rejected, because this repository has exceeded ${excess}. Please contact your GitLab administrator for more information.`
  );
}

function branchRefusal(
  actor: Actor,
  access: ProjectAccess,
  protection: BranchProtection,
  { name, kind, forced }: PushUpdate,
): string | undefined {
  const branch = shortName(name);
  if (!protection.isProtected(branch)) return undefined;
  if (forced && !protection.mayForce(branch)) return BRANCH_REFUSALS.force;
  if (kind === 'delete')
    return protection.mayDelete(actor, branch) ? BRANCH_REFUSALS.deleteByGit : BRANCH_REFUSALS.delete;
  if (protection.mayPush(actor, branch)) return undefined;
  const { defaultBranch, fullPath } = access.project;
  if (defaultBranch === null) {
    return `A default branch does not yet exist for ${fullPath}. Ask a project Owner or Maintainer to create a default branch.`;
  }
  if (kind === 'update') return BRANCH_REFUSALS.push;
  return protection.mayMerge(actor, branch) ? BRANCH_REFUSALS.createByGit : BRANCH_REFUSALS.create;
}

function tagRefusal(
  actor: Actor,
  access: ProjectAccess,
  protection: TagProtection,
  { name, kind }: PushUpdate,
): string | undefined {
  const tag = shortName(name);
  if (!protection.isProtected(tag)) return undefined;
  if (kind === 'update') return TAG_REFUSALS.update;
  if (kind === 'delete') return maintains(actor, access) ? TAG_REFUSALS.deleteByGit : TAG_REFUSALS.delete;
  return protection.mayCreate(actor, tag) ? undefined : TAG_REFUSALS.create;
}
