import type { UserRecord } from '../../records/users.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Deps } from '../deps.ts';

const ADDRESSES = ['public_email', 'commit_email'] as const;

/** Whether an account names the address as its own. */
export const namesAddress = (profile: Readonly<Record<string, unknown>>, address: string): boolean =>
  ADDRESSES.some((field) => isAddress(profile[field], address));

/** The profile when the address is theirs no longer: it is neither shown nor put into commits. */
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

/** Whether an address is one that this user has shown to be theirs. */
export async function isConfirmedEmail(deps: Deps, user: UserRecord): Promise<(address: string) => boolean> {
  const others = await deps.store.emails.all(user.id);
  const confirmed = [...others, { email: user.email, confirmedAt: user.confirmedAt }]
    .filter(({ confirmedAt }) => confirmedAt !== null)
    .map(({ email }) => email);
  return (address) => confirmed.some((email) => sameName(email, address));
}
