/** Which users can receive mail, and at which address. */
import type { NotificationChoice } from '../../records/notifications.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';

/** Whether a user is an active person (no bot) with a confirmed address. */
export const canReceiveMail = ({ state, type, confirmedAt }: UserRecord): boolean =>
  state === 'active' && type === undefined && confirmedAt !== null;

/** Returns addresses by user ID: the chosen notification address while the user owns it, else the primary address. */
export async function mailAddressesOf(
  { store }: Deps,
  recipients: readonly { readonly user: UserRecord; readonly chosen: NotificationChoice }[],
): Promise<Map<number, string>> {
  const otherAddresses = recipients.flatMap(({ user, chosen }) =>
    typeof chosen.email === 'string' ? [{ user, email: chosen.email }] : [],
  );
  const holders = await store.names.holders(
    'email',
    otherAddresses.map(({ email }) => email),
  );
  const addresses = new Map(recipients.map(({ user }) => [user.id, user.email]));
  for (const [i, { user, email }] of otherAddresses.entries()) {
    const holder = holders[i];
    if (holder?.type === 'user' && holder.id === user.id && holder.confirmed) addresses.set(user.id, email);
  }
  return addresses;
}
