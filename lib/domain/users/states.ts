/** Blocking, banning, deactivating, approving: who may sign in. Effective at the next request, for Git too. */
import type { UserRecord, UserState } from '../../records/users.ts';
import { signedIn } from '../access/permissions.ts';
import { actorStaysAdministrator, changeUser, type PlannedChange, userOfId } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedUser } from '../audit-events/event.ts';
import { dayBefore, dayOf } from '../days.ts';
import { deleteUser } from '../deletion/user-deletion.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, forbidden } from '../errors.ts';
import { deactivation } from './deactivation.ts';

/** Somebody who was here within that many days is not deactivated. */
const INACTIVE_DAYS = 90;

/** @returns the new state, or undefined: there is nothing to do; throws where it may not be */
type Transition = (user: UserRecord, now: Date) => UserState | undefined;

const TRANSITIONS = {
  block: (user) => {
    if (user.state === 'blocked') return undefined;
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

export type UserTransition = keyof typeof TRANSITIONS;

/** As it is recorded. */
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
    // An administrator who locked themselves out could leave nobody to let them in.
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

/** @throws 404, 409 for somebody who asked for nothing */
export async function approve(deps: Deps, actor: Actor, userId: number): Promise<void> {
  await changeUser(deps, userId, async (user) => {
    if (user.state !== 'blocked_pending_approval')
      throw conflict('The user you are trying to approve is not pending approval');
    const event = await recorded(deps, actor, user, 'Instance access request approved');
    return { change: { state: 'active' }, alongside: [event] };
  });
}

/** Nothing is left of the request. @throws 404, 409 for somebody who asked for nothing */
export async function reject(deps: Deps, actor: Actor, userId: number): Promise<void> {
  const user = await userOfId(deps, userId);
  if (user.state !== 'blocked_pending_approval') throw conflict('User does not have a pending request');
  const event = await recorded(deps, actor, user, 'Instance access request rejected');
  await deleteUser(deps, actor, user, { hard: true, alongside: [event] });
}

/** Accounts that the service made for itself. */
const isInternal = ({ type }: Pick<UserRecord, 'type'>): boolean => type === 'ghost';

const refusal = (text: string) => new DomainError('forbidden', text);
