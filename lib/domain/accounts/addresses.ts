import type { UserRecord } from '../../records/users.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Deps } from '../deps.ts';

const ADDRESSES = ['public_email', 'commit_email'] as const;

/** Whether a profile uses the address as its public or commit email. */
export const namesAddress = (profile: Readonly<Record<string, unknown>>, address: string): boolean =>
  ADDRESSES.some((field) => isAddress(profile[field], address));

/** Returns the profile without an address that no longer belongs to the user, neither as public nor as commit email. */
export const withoutAddress = (
  profile: Readonly<Record<string, unknown>>,
  address: string,
): Readonly<Record<string, unknown>> => ({
  ...profile,
  ...Object.fromEntries(
    ADDRESSES.filter((field) => isAddress(profile[field], address)).map((field) => [field, '']),
  ),
});

const isAddress = (value: unknown, address: string): boolean =>
  typeof value === 'string' && sameName(value, address);

/** Returns a predicate: whether an address is a confirmed email of the user. */
export async function isConfirmedEmail(deps: Deps, user: UserRecord): Promise<(address: string) => boolean> {
  const others = await deps.store.emails.all(user.id);
  const confirmed = [...others, { email: user.email, confirmedAt: user.confirmedAt }]
    .filter(({ confirmedAt }) => confirmedAt !== null)
    .map(({ email }) => email);
  return (address) => confirmed.some((email) => sameName(email, address));
}
