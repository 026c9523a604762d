/** Lookup of accounts, and the common part of every change of one. */

import type { UserRecord } from '../../records/users.ts';
import { Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Check, Write } from '../../store/table/write.ts';
import type { UserChange } from '../../store/users/users.ts';
import { signedIn } from '../access/permissions.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** @throws `404 User Not Found` */
export async function userOfId({ store }: Deps, id: number): Promise<UserRecord> {
  const user = await store.users.get(id);
  if (user === undefined) throw notFound('User');
  return user;
}

/** Returns the user with an ID or username. @throws `404 User Not Found` */
export async function userNamed(deps: Deps, idOrName: string): Promise<UserRecord> {
  if (/^\d{1,15}$/.test(idOrName)) return userOfId(deps, Number(idOrName));
  const user = await deps.store.users.byUsername(idOrName);
  if (user === undefined) throw notFound('User');
  return user;
}

/** A private profile is visible to its owner and to administrators. */
export const maySeeProfile = (actor: Actor, user: UserRecord): boolean =>
  !user.privateProfile || isAdministrator(actor) || (actor.kind === 'user' && actor.user.id === user.id);

/** A change of a user, with further writes and outbox messages of its transaction. */
export interface PlannedChange {
  readonly change: UserChange;
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
  /** Condition: this is still the date of the last activity; null: never active. */
  readonly lastHereOn?: string | null;
}

/**
 * Reads a user, decides on a change and writes it; starts again if the account was changed concurrently.
 * @param decide returns undefined for no change
 * @returns undefined if nothing was changed
 * @throws what `decide` throws; 404; 409 for names that are taken; 403 if the actor is no longer an administrator
 */
export async function changeUser(
  deps: Deps,
  id: number,
  decide: (user: UserRecord) => PlannedChange | undefined | Promise<PlannedChange | undefined>,
): Promise<UserRecord | undefined> {
  const attempt = async () => {
    const user = await userOfId(deps, id);
    const planned = await decide(user);
    if (planned === undefined) return undefined;
    const { change, ...options } = planned;
    return deps.store.users.update(user, change, { ...options, now: deps.now() });
  };
  try {
    return await retryOnConflict(attempt, (error) => error instanceof Stale, { attempts: 5 });
  } catch (error) {
    throw userChangeError(error);
  }
}

/** Translates store errors of a user change into domain errors. */
export function userChangeError(error: unknown): unknown {
  if (error instanceof NameTaken) {
    if (error.names.includes('email')) return conflict('Email has already been taken');
    if (error.names.includes('username')) return conflict('Username has already been taken');
    return invalid({ 'identities.extern_uid': ['has already been taken'] });
  }
  if (error instanceof Missing) return notFound('User');
  if (error instanceof Stale) return conflict('409 Conflict: Resource lock');
  return error instanceof TransactionRefused && error.has('administrator') ? forbidden() : error;
}

/**
 * Returns a check, for the same transaction, that the actor is still an administrator when they revoke another
 * administrator's rights. Of two who revoke each other's, one fails: the instance always keeps an administrator.
 * Empty if the target is no administrator.
 */
export function actorStaysAdministrator({ store }: Deps, actor: Actor, target: UserRecord): Check[] {
  const { user } = signedIn(actor);
  return target.admin && user.id !== target.id ? [store.users.isAdministrator(user.id)] : [];
}
