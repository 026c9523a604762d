/** Whom mail reaches, and where. */
import type { NotificationChoice } from '../../records/notifications.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';

/** A person who may sign in, at an address they have shown to be theirs. */
export const isReached = ({ state, type, confirmedAt }: UserRecord): boolean =>
  state === 'active' && type === undefined && confirmedAt !== null;

/** The one they chose while it is theirs, else the first. */
export async function addressesOf(
  { store }: Deps,
  readers: readonly { readonly user: UserRecord; readonly chosen: NotificationChoice }[],
): Promise<Map<number, string>> {
  const elsewhere = readers.flatMap(({ user, chosen }) =>
    typeof chosen.email === 'string' ? [{ user, email: chosen.email }] : [],
  );
  const holders = await store.names.holders(
    'email',
    elsewhere.map(({ email }) => email),
  );
  const addresses = new Map(readers.map(({ user }) => [user.id, user.email]));
  for (const [i, { user, email }] of elsewhere.entries()) {
    const holder = holders[i];
    if (holder?.type === 'user' && holder.id === user.id && holder.confirmed) addresses.set(user.id, email);
  }
  return addresses;
}
