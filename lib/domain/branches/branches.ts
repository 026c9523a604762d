import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { type Ref, RefConflict } from '../../git/ports.ts';
import { branchRef, isOidLike, newBranchRef, type RefName, shortName } from '../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, refused } from '../errors.ts';
import { listRefs, type RefListQuery } from '../refs/list.ts';
import { BRANCH_REFUSALS, type BranchProtection, branchProtection } from '../refs/protection.ts';
import { refConflictError } from '../repository/conflicts.ts';
import { deleteRefIfUnchanged } from '../repository/delete-ref.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { createInitialReadme } from '../repository/readme.ts';
import { started } from '../started.ts';

export interface Branch {
  readonly name: string;
  readonly tip: CommitRecord;
  /** Whether all its commits are in the default branch; false for the default branch itself. */
  readonly merged: boolean;
  readonly isDefault: boolean;
}

export type BranchOrder = 'name_asc' | 'updated_asc' | 'updated_desc';

export interface BranchPage {
  readonly items: readonly Branch[];
  /** Undefined if counting was too expensive. */
  readonly total: number | undefined;
  readonly more: boolean;
}

export interface BranchQuery {
  readonly search?: string | undefined;
  readonly order: BranchOrder;
  readonly offset: number;
  readonly limit: number;
  readonly after?: string | undefined;
}

/** The ref query for a page of branches. */
export const branchList = ({ order, ...page }: BranchQuery): RefListQuery => ({
  ...page,
  space: 'heads',
  orderBy: order === 'name_asc' ? 'name' : 'updated',
  descending: order === 'updated_desc',
});

/** Returns branches sorted by name or by the time of their last commit. Reads commits only for the page. */
export async function listBranches(git: GitRepository, query: RefListQuery): Promise<BranchPage> {
  const readingHead = started(git.headRef());
  const { refs, total, more } = await listRefs(git, query);
  return { items: await described(git, refs, (await readingHead).head), total, more };
}

/** @throws 400 for an invalid name, `404 Branch Not Found` */
export async function getBranch(git: GitRepository, name: string): Promise<Branch> {
  const readingHead = started(git.headRef());
  const ref = await branchOf(git, name);
  const [branch] = await described(git, [ref], (await readingHead).head);
  if (branch === undefined) throw notFound('Branch');
  return branch;
}

export async function branchExists(git: GitRepository, name: string): Promise<boolean> {
  const full = branchRef(name);
  return full !== undefined && (await git.ref(full)) !== undefined;
}

/** @throws 403, 400 with the reason */
export async function createBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: { name: string; ref: string },
): Promise<{ made: Branch; protection: BranchProtection }> {
  requirePush(actor, access);
  const name = newBranchRef(input.name);
  if (name === undefined) throw refused('Branch name is invalid');
  if (isOidLike(input.name)) throw refused(BRANCH_REFUSALS.oidLike);
  let git = codeOf(deps, access, actor);
  let protection = started(branchProtection(deps, access, actor));
  const starting = started(git.resolve(input.ref));
  let readingHead = started(git.headRef());
  if ((await git.ref(name)) !== undefined) throw refused('Branch already exists');
  let start = await starting;
  if (start === undefined && (await startsFromNothing(git, name, input.ref))) {
    const first = shortName((await readingHead).target);
    if (!(await protection).mayPush(actor, first)) throw refused(BRANCH_REFUSALS.create);
    // An empty repository has nothing to branch from: create its first commit.
    const created = await createInitialReadme(deps, actor, access);
    git = codeOf(deps, created, actor);
    readingHead = started(git.headRef());
    protection = started(branchProtection(deps, created, actor));
    if (created.project.defaultBranch === input.name)
      return { made: await getBranch(git, input.name), protection: await protection };
    start = await git.resolve(input.ref);
  }
  if (start === undefined) throw refused(`Invalid reference name: ${input.ref}`);
  await requireCreate(git, await protection, actor, input.name, start.commit);
  try {
    await git.createRef(name, start.commit);
  } catch (error) {
    if (error instanceof ObjectMissing) throw refused(`Invalid reference name: ${input.ref}`);
    const exists = error instanceof RefConflict && error.rejections.some(({ reason }) => reason === 'exists');
    throw exists ? refused('Branch already exists') : refConflictError(error, 'Branch name is invalid');
  }
  // As created, whether or not it has changed since.
  const ref = { name, oid: start.commit };
  const [created] = await described(git, [ref], (await readingHead).head);
  return { made: created!, protection: await protection };
}

/**
 * Those who may merge into a protected branch but not push to it may create it only from a commit that is already in a
 * protected branch.
 * @throws 400
 */
async function requireCreate(
  git: GitRepository,
  protection: BranchProtection,
  actor: Actor,
  branch: string,
  commit: Oid,
): Promise<void> {
  if (protection.mayPush(actor, branch)) return;
  if (!protection.mayMerge(actor, branch)) throw refused(BRANCH_REFUSALS.create);
  const guarded: Ref[] = [];
  for await (const refs of (await git.view('heads')).refs())
    guarded.push(...refs.filter((ref) => protection.isProtected(shortName(ref.name))));
  const containing = await bounded(() => git.containing(guarded, commit));
  if (containing.length === 0) throw refused(BRANCH_REFUSALS.createFrom);
}

/** Whether creating the first commit on the default branch would make `ref` resolvable and `name` available. */
async function startsFromNothing(git: GitRepository, name: RefName, ref: string): Promise<boolean> {
  const [{ target: head }, hasBranches] = await Promise.all([git.headRef(), git.hasBranches()]);
  if (hasBranches || name.startsWith(`${head}/`) || head.startsWith(`${name}/`)) return false;
  return ref === 'HEAD' || ref === '@' || [ref, `refs/${ref}`, `refs/heads/${ref}`].includes(head);
}

/** @param unchanged called with the time of the last commit; throws if that is later than the caller allows */
export async function deleteBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  unchanged: (lastCommit: Date) => void,
): Promise<void> {
  requirePush(actor, access);
  const git = codeOf(deps, access, actor);
  const protection = started(branchProtection(deps, access, actor));
  const readingHead = started(git.headRef());
  const ref = await branchOf(git, name);
  const { head } = await readingHead;
  if (head?.name === ref.name) throw refused('The default branch of a project cannot be deleted.');
  if (!(await protection).mayDelete(actor, name)) throw refused(BRANCH_REFUSALS.delete);
  await deleteRefIfUnchanged(git, ref, unchanged);
}

export const DELETE_MERGED_JOB = 'branches.delete-merged';

/** Enqueues the deletion of all merged branches. @throws 403 */
export async function requestDeleteMerged(deps: Deps, actor: Actor, access: ProjectAccess): Promise<void> {
  requirePush(actor, access);
  const body = { projectId: access.project.id, userId: signedIn(actor).user.id };
  await deps.store.outbox.commit([], [message(MAINTENANCE, DELETE_MERGED_JOB, body)]);
}

/**
 * Job of the worker: deletes every unprotected branch that is merged into the default branch, but those that open merge
 * requests propose.
 * @param request.userId the requester; absent in older messages
 */
export async function deleteMerged(
  deps: Deps,
  { projectId, userId }: { readonly projectId: number; readonly userId: number | undefined },
): Promise<void> {
  const project = await deps.store.projects.get(projectId);
  if (project === undefined) return;
  const access = { project, level: 0 } as const;
  const git = codeOf(deps, access, userId === undefined ? undefined : { kind: 'requester', userId });
  const [{ head, refs }, protection] = await Promise.all([
    git.branches(),
    branchProtection(deps, access, { kind: 'anonymous' }),
  ]);
  const target = refs.find((ref) => ref.name === head);
  if (target === undefined) return;
  const others = refs.filter((ref) => ref.name !== head && !protection.isProtected(shortName(ref.name)));
  const merged = await git.merged(others, target.oid);
  for (const [index, ref] of others.entries()) {
    if (merged[index] !== true) continue;
    const source = { projectId, branch: shortName(ref.name) };
    if ((await deps.store.mergeRequests.openFrom(source, 1)).length > 0) continue;
    try {
      await git.deleteRef(ref.name, ref.oid);
    } catch (error) {
      // It was moved or deleted concurrently: keep it.
      if (!(error instanceof RefConflict)) throw error;
    }
  }
}

async function branchOf(git: GitRepository, name: string): Promise<Ref> {
  const full = branchRef(name);
  if (full === undefined) throw refused('The branch refname is invalid');
  const ref = await git.ref(full);
  if (ref === undefined) throw notFound('Branch');
  return ref;
}

async function described(git: GitRepository, refs: readonly Ref[], head: Ref | undefined): Promise<Branch[]> {
  if (refs.length === 0) return [];
  const [tips, merged] = await Promise.all([
    git.tips(refs),
    head === undefined ? refs.map(() => false) : bounded(() => git.merged(refs, head.oid)),
  ]);
  const mergedByName = new Map(refs.map((ref, index) => [ref.name, merged[index] === true]));
  return tips.map(({ ref, commit }) => {
    const isDefault = ref.name === head?.name;
    return {
      name: shortName(ref.name),
      tip: commit,
      isDefault,
      merged: !isDefault && mergedByName.get(ref.name) === true,
    };
  });
}

export function requirePush(actor: Actor, access: ProjectAccess): void {
  if (!can(actor, access, 'push_code')) throw forbidden();
}
