/** States of accounts: blocking, banning, deactivating, approving. Effective from the next request, also for Git. */
import { isInternal, type UserRecord, type UserState } from '../../records/users.ts';
import { signedIn } from '../access/permissions.ts';
import { actorStaysAdministrator, changeUser, type PlannedChange, userOfId } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedUser } from '../audit-events/event.ts';
import { dayBefore, dayOf } from '../days.ts';
import { deleteUser } from '../deletion/user-deletion.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, forbidden } from '../errors.ts';
import { deactivation } from './deactivation.ts';

/** A user who was active within this number of days cannot be deactivated. */
const INACTIVE_DAYS = 90;

/** Returns the new state, or undefined when nothing changes; throws when the transition is not allowed. */
type Transition = (user: UserRecord, now: Date) => UserState | undefined;

const TRANSITIONS = {
  block: (user) => {
    if (isBlocked(user)) return undefined;
    if (isInternal(user)) throw refusal('An internal user cannot be blocked');
    return 'blocked';
  },
  unblock: ({ state }) => {
    if (state === 'deactivated') throw forbidden('Deactivated users cannot be unblocked by the API');
    if (state === 'banned') throw forbidden('Banned users cannot be unblocked by the API');
    return state === 'active' ? undefined : 'active';
  },
  ban: (user) => {
    if (isInternal(user)) throw refusal('An internal user cannot be banned');
    if (user.state !== 'active') throw refusal(`You cannot ban ${user.state} users.`);
    return 'banned';
  },
  unban: ({ state }) => {
    if (state !== 'banned') throw refusal(`You cannot unban ${state} users.`);
    return 'active';
  },
  deactivate: (user, now) => {
    if (user.state === 'deactivated') return undefined;
    if (user.state !== 'active') throw forbidden('A blocked user cannot be deactivated by the API');
    if (isInternal(user)) throw forbidden('An internal user cannot be deactivated by the API');
    if (user.lastActivityOn !== null && user.lastActivityOn > dayBefore(now, INACTIVE_DAYS)) {
      throw forbidden(
        `The user you are trying to deactivate has been active in the past ${INACTIVE_DAYS} days and cannot be deactivated`,
      );
    }
    return 'deactivated';
  },
  activate: ({ state }) => {
    if (state === 'active') return undefined;
    if (state !== 'deactivated') throw forbidden('A blocked user must be unblocked to be activated');
    return 'active';
  },
} satisfies Record<string, Transition>;

/** A ban and a pending approval are stronger than a block, and stay. */
const isBlocked = ({ state }: UserRecord): boolean =>
  state === 'blocked' || state === 'banned' || state === 'blocked_pending_approval';

export type UserTransition = keyof typeof TRANSITIONS;

/** Texts of audit events. */
const RECORDED: Readonly<Record<Exclude<UserTransition, 'deactivate'>, string>> = {
  block: 'Blocked user',
  unblock: 'Unblocked user',
  ban: 'Banned user',
  unban: 'Unbanned user',
  activate: 'Activated user',
};

const recorded = (deps: Deps, actor: Actor, user: UserRecord, message: string) =>
  audited(deps, actor, { entity: auditedUser(user), details: { custom_message: message } });

/** @returns whether anything changed @throws 404, 403 with the reason */
export async function changeState(
  deps: Deps,
  actor: Actor,
  userId: number,
  transition: UserTransition,
): Promise<boolean> {
  const changed = await changeUser(deps, userId, async (user) => {
    const state = TRANSITIONS[transition](user, deps.now());
    if (state === undefined) return undefined;
    // Else the last administrator could lock themselves out.
    if (state !== 'active' && signedIn(actor).user.id === user.id) {
      throw forbidden(`You cannot ${transition} yourself`);
    }
    const planned: PlannedChange =
      transition === 'deactivate'
        ? await deactivation(deps, actor, user)
        : {
            change: { state, ...(transition === 'activate' && { activatedOn: dayOf(deps.now()) }) },
            alongside: [await recorded(deps, actor, user, RECORDED[transition])],
          };
    const checks = state === 'active' ? [] : actorStaysAdministrator(deps, actor, user);
    return { ...planned, alongside: [...(planned.alongside ?? []), ...checks] };
  });
  return changed !== undefined;
}

/** Approves a sign-up request. @throws 404, 409 for a user without a pending request */
export async function approve(deps: Deps, actor: Actor, userId: number): Promise<void> {
  await changeUser(deps, userId, async (user) => {
    if (user.state !== 'blocked_pending_approval')
      throw conflict('The user you are trying to approve is not pending approval');
    const event = await recorded(deps, actor, user, 'Instance access request approved');
    return { change: { state: 'active' }, alongside: [event] };
  });
}

/** Rejects a sign-up request and deletes the account. @throws 404, 409 for a user without a pending request */
export async function reject(deps: Deps, actor: Actor, userId: number): Promise<void> {
  const user = await userOfId(deps, userId);
  if (user.state !== 'blocked_pending_approval') throw conflict('User does not have a pending request');
  const event = await recorded(deps, actor, user, 'Instance access request rejected');
  await deleteUser(deps, actor, user, { hard: true, alongside: [event] });
}

const refusal = (text: string) => new DomainError('forbidden', text);
