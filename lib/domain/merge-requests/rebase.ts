/** Rebasing source branches: asked for by a request, done by a worker. */

import { randomUUID } from 'node:crypto';
import { CorruptData } from '../../git/corrupt-data.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import { branchRef } from '../../git/refname.ts';
import type { MergeRequestFields, MergeRequestRecord } from '../../records/merge-requests.ts';
import { REBASE_JOB } from '../../store/merge-requests/merge-requests.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import { signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import { ownedChangeRefusal } from '../code-owners/owned-change.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, forbidden, notAllowed } from '../errors.ts';
import { codeWithAlternate } from '../forks/network.ts';
import { pushAccess } from '../refs/collaboration.ts';
import { branchProtection } from '../refs/protection.ts';
import { identityOf } from '../repository/identity.ts';
import { codeOf } from '../repository/read.ts';
import { lostRef, retryOnConflict } from '../retry-on-conflict.ts';
import { changeMergeRequest } from './change.ts';
import { getMergeRequest } from './find.ts';
import { isRebasing } from './merge-status.ts';
import { headsOf } from './mergeability.ts';
import { refreshed } from './refresh.ts';

const FAILED = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.';
const LOCKED =
  'Failed to enqueue the rebase operation, possibly due to a long-lived transaction. Try again later.';

/**
 * Lets a worker rebase the source branch onto the target branch. With `skipCi` the pipeline of that push is skipped.
 * @throws `404 Not found`; 403 for who may not push to the source branch, and where it is gone; 405 for one that is not
 *   open; 409 while a rebase is under way
 */
export async function requestRebase(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  { skipCi = false }: { readonly skipCi?: boolean } = {},
): Promise<void> {
  const { user } = signedIn(actor);
  const { mergeRequest: record } = await getMergeRequest(deps, actor, access, iid);
  const refusal = await rebaseRefusal(deps, actor, access, record);
  if (refusal !== undefined) throw forbidden(refusal);
  const rebase = { id: randomUUID(), at: deps.now().toISOString(), userId: user.id };
  const change = (before: MergeRequestRecord) => {
    if (before.state !== 'opened') throw notAllowed();
    if (isRebasing(before, deps.now())) throw conflict(LOCKED);
    return { rebase, mergeError: null };
  };
  const baseUrl = actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '';
  const body = { projectId: record.projectId, iid, id: rebase.id, baseUrl, ...(skipCi ? { skipCi } : {}) };
  await changeMergeRequest(deps, actor, access, iid, change, {
    messages: [message(MAINTENANCE, REBASE_JOB, body)],
  });
}

/** Why the actor may not rebase the source branch; undefined: they may. */
export async function rebaseRefusal(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  record: MergeRequestRecord,
): Promise<string | undefined> {
  const source = await sourceOf(deps, actor, access, record);
  const protection = source && (await branchProtection(deps, source, actor));
  if (protection?.mayPush(actor, record.source.branch) !== true || !protection.mayForce(record.source.branch))
    return 'Cannot push to source branch';
  return (await headsOf(deps, access, record)).sourceSha === undefined
    ? 'Source branch does not exist'
    : undefined;
}

/**
 * The work of the job. It runs again when a worker died, and does nothing once its rebase has ended or another was asked
 * for.
 * @param last this delivery is the last one: what fails is told
 */
export async function rebaseMergeRequest(
  deps: Deps,
  {
    projectId,
    iid,
    id,
    baseUrl,
    skipCi = false,
  }: {
    readonly projectId: number;
    readonly iid: number;
    readonly id: string;
    readonly baseUrl: string;
    readonly skipCi?: boolean | undefined;
  },
  { deadline, last }: { readonly deadline: number; readonly last: boolean },
): Promise<void> {
  const record = await deps.store.mergeRequests.get({ projectId, iid });
  if (record?.rebase?.id !== id) return;
  const user = await deps.store.users.get(record.rebase.userId);
  const actor = user && actingFor(user, baseUrl);
  const [access] = actor === undefined ? [] : await projectAccesses(deps, actor, [projectId]);
  if (actor === undefined || access === undefined) {
    await deps.store.mergeRequests.endRebase(record, id);
    return;
  }
  let mergeError: string | null = FAILED;
  try {
    // Who pushed meanwhile has their commits rebased too.
    mergeError = await retryOnConflict(
      () => rebased(deps, actor, access, record, { deadline, skipCi }),
      lostRef,
    );
  } catch (error) {
    const lost = error instanceof RefConflict || error instanceof DomainError;
    const damaged = error instanceof ObjectMissing || error instanceof CorruptData;
    if (!lost && !damaged && !last) throw error;
  }
  const now = await refreshed(deps, actor, access, record);
  const change = (before: MergeRequestRecord): Partial<MergeRequestFields> =>
    before.rebase?.id === id ? { rebase: null, mergeError } : {};
  await changeMergeRequest(deps, actor, access, now.iid, change);
}

/** @returns why it failed; null: it was rebased, or is where it should be */
async function rebased(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  access: ProjectAccess,
  record: MergeRequestRecord,
  { deadline, skipCi }: { readonly deadline: number; readonly skipCi: boolean },
): Promise<string | null> {
  const [source, { targetSha, sourceSha }] = await Promise.all([
    sourceOf(deps, actor, access, record),
    headsOf(deps, access, record),
  ]);
  const name = branchRef(record.source.branch);
  const protection = source && (await branchProtection(deps, source, actor));
  const may = protection?.mayPush(actor, record.source.branch) && protection.mayForce(record.source.branch);
  if (
    !may ||
    source === undefined ||
    name === undefined ||
    sourceSha === undefined ||
    targetSha === undefined
  )
    return FAILED;
  const isFork = source.project.id !== access.project.id;
  const git = isFork ? codeWithAlternate(deps, source, access, actor) : codeOf(deps, source, actor);
  const signal = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
  const merging = await git.merging();
  const committer = identityOf(actor.user, deps.now());
  const outcome = await merging.rebase({
    source: sourceSha,
    onto: targetSha as Oid,
    committer,
    bounds: { signal },
  });
  if (outcome.kind !== 'built')
    return outcome.kind === 'too-large' ? `Rebase failed: ${outcome.message}` : FAILED;
  if (outcome.commit === sourceSha) return null;
  if (protection?.asksOwnersOf(actor, record.source.branch)) {
    const to = { oid: outcome.commit, objects: outcome.objects };
    const owned = await ownedChangeRefusal(git, sourceSha, { to });
    if (owned !== undefined) return `Rebase failed: ${owned}`;
  }
  const update = { name, from: sourceSha, to: outcome.commit, forced: true, committed: committer.seconds };
  const pushOptions = skipCi ? ['ci.skip'] : [];
  await git.publish(outcome.objects, [update], { uses: [targetSha], pushOptions });
  return null;
}

/** The project of the source branch, with the access with which the actor pushes there; undefined: they may not. */
async function sourceOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { source }: MergeRequestRecord,
): Promise<ProjectAccess | undefined> {
  if (source.projectId === access.project.id) return access;
  const [fork] = await projectAccesses(deps, actor, [source.projectId]);
  return fork && pushAccess(deps, actor, fork, source.branch);
}
