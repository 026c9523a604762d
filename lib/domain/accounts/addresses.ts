import { sameName } from '../../store/table/unique-names.ts';

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
