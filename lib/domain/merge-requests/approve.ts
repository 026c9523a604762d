/** Approving merge requests, and taking that back. */

import { MAX_APPROVALS } from '../../records/approvals.ts';
import type { MergeRequestFields, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { SystemNote } from '../../records/notes.ts';
import { Stale } from '../../store/errors.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { verifyPassword } from '../accounts/password-hash.ts';
import type { Actor } from '../actor.ts';
import { evaluateApprovals } from '../approvals/evaluate.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, unauthorized } from '../errors.ts';
import { type ActionLimit, requireRate } from '../rate-limits/action-limits.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { changeMergeRequest } from './change.ts';
import { checkedForApproval } from './checked-for-approval.ts';
import { getMergeRequest } from './find.ts';

export interface ApprovalInput {
  /** The head that is approved; undefined: whatever it is. */
  readonly sha?: string | undefined;
  /** Where the settings ask for it. */
  readonly password?: string | undefined;
}

/** What the service notes. */
export const APPROVED: SystemNote = { action: 'approved', text: 'approved this merge request' };
export const UNAPPROVED: SystemNote = { action: 'unapproved', text: 'unapproved this merge request' };
const RESET: SystemNote = { action: 'unapproved', text: 'removed all approvals of this merge request' };

/** Per user: who has a token might try passwords. */
const PASSWORDS: ActionLimit = { kind: 'approval-password', seconds: 600, limit: () => 10 };

/**
 * Approvals of several people at once all count.
 * @throws 401 for who may not approve it, has done so, or gives a wrong password, and where it is not open;
 *   `404 Not found`; 409 for another head
 */
export async function approve(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  { sha, password }: ApprovalInput,
): Promise<MergeRequestRecord> {
  const { user } = signedIn(actor);
  const judged = (record: MergeRequestRecord) => [record.version, record.diff.id].join();
  const attempt = async () => {
    // Who says which head they saw is told of one that was pushed since, also before workers know of it.
    const read =
      sha === undefined
        ? (await getMergeRequest(deps, actor, access, iid)).mergeRequest
        : await (await import('./as-it-is.ts')).mergeRequestInLine(deps, actor, access, iid);
    const { record: mergeRequest } = await checkedForApproval(deps, access, read);
    const { state, settings } = await evaluateApprovals(deps, access, mergeRequest, [user.id]);
    const eligible = mergeRequest.state === 'opened' && can(actor, access, 'approve_merge_request');
    if (!eligible || !state.mayApprove(user.id)) throw unauthorized();
    if (sha !== undefined && sha !== mergeRequest.diff.headSha)
      throw conflict(`SHA does not match HEAD of source branch: ${mergeRequest.diff.headSha}`);
    if (settings.require_password_to_approve) await requirePassword(deps, user, password);
    if (mergeRequest.approvals.length >= MAX_APPROVALS)
      throw conflict('It has all the approvals that it can have');
    const approval = { userId: user.id, at: deps.now().toISOString() };
    return changeMergeRequest(
      deps,
      actor,
      access,
      iid,
      (before) => {
        // What was judged has changed: it is judged again.
        if (judged(before) !== judged(mergeRequest)) throw new Reconsidered();
        return { approvals: [...before.approvals, approval], updatedAt: approval.at };
      },
      { notes: [APPROVED] },
    );
  };
  return reconsidering(attempt);
}

/**
 * What an approval of the head makes of a merge request, where it takes no more than the actor's word.
 * @returns undefined where they may not approve it. What is returned throws 409 where what was judged has changed
 */
export async function approvalOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  judged: MergeRequestRecord,
): Promise<((before: MergeRequestFields) => Pick<MergeRequestFields, 'approvals'>) | undefined> {
  const { id: userId } = signedIn(actor).user;
  if (judged.state !== 'opened' || !can(actor, access, 'approve_merge_request')) return undefined;
  const { state, settings } = await evaluateApprovals(deps, access, judged, [userId]);
  if (!state.mayApprove(userId) || settings.require_password_to_approve) return undefined;
  return ({ state: now, diff, approvals }) => {
    const holds = now === 'opened' && diff.id === judged.diff.id;
    const others = approvals.filter((each) => each.userId !== userId);
    if (!holds || others.length >= MAX_APPROVALS) throw conflict('409 Conflict: Resource lock');
    return { approvals: [...others, { userId, at: deps.now().toISOString() }] };
  };
}

class Reconsidered extends Error {
  override readonly name = 'Reconsidered';
}

async function reconsidering<T>(attempt: () => Promise<T>): Promise<T> {
  const lost = (error: unknown) => error instanceof Reconsidered || error instanceof Stale;
  try {
    return await retryOnConflict(attempt, lost);
  } catch (error) {
    throw lost(error) ? conflict('409 Conflict: Resource lock') : error;
  }
}

async function requirePassword(
  deps: Deps,
  user: { readonly id: number; readonly username: string; readonly passwordHash: string | null },
  password: string | undefined,
): Promise<void> {
  if (password === undefined || user.passwordHash === null) throw unauthorized();
  await requireRate(deps, PASSWORDS, user);
  if (!(await verifyPassword(password, user.passwordHash))) throw unauthorized();
}

/** @throws 401 where it is not open; `404 Not found`, also for who has not approved it */
export async function unapprove(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<MergeRequestRecord> {
  const { user } = signedIn(actor);
  return changeMergeRequest(
    deps,
    actor,
    access,
    iid,
    ({ state, approvals }) => {
      if (state !== 'opened' || !can(actor, access, 'approve_merge_request')) throw unauthorized();
      const others = approvals.filter(({ userId }) => userId !== user.id);
      if (others.length === approvals.length) throw notFound();
      return { approvals: others, updatedAt: deps.now().toISOString() };
    },
    { notes: [UNAPPROVED] },
  );
}

/** Removes all approvals: for the users of access tokens. @throws 401 for others; `404 Not found` */
export async function resetApprovals(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<void> {
  const { user } = signedIn(actor);
  const allowed = user.type === 'project_bot' && can(actor, access, 'update_merge_request');
  if (!allowed) throw unauthorized();
  await changeMergeRequest(
    deps,
    actor,
    access,
    iid,
    ({ state }) => {
      if (state !== 'opened') throw unauthorized();
      return { approvals: [], updatedAt: deps.now().toISOString() };
    },
    { notes: [RESET] },
  );
}
