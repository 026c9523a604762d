import type { UserRecord } from '../../records/users.ts';
import { verifyPassword } from '../accounts/password-hash.ts';
import type { InstanceSettings } from '../settings/current.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

export const MAX_PASSWORD_LENGTH = 128;

/**
 * Returns the problems of a new password: its length, or that it is common, derived from a name of the account, or the
 * current one.
 */
export async function passwordProblems(
  password: string,
  of: Pick<UserRecord, 'username' | 'name' | 'email'> & { readonly passwordHash?: string | null },
  { minimum_password_length: least }: Pick<InstanceSettings, 'minimum_password_length'>,
): Promise<string[]> {
  if (password === '') return ["can't be blank"];
  if (password.length < least) return [`is too short (minimum is ${least} characters)`];
  if (password.length > MAX_PASSWORD_LENGTH)
    return [`is too long (maximum is ${MAX_PASSWORD_LENGTH} characters)`];
  const plain = password.normalize('NFKC').toLowerCase();
  const names = [of.username, of.name, of.email].map((name) => name.normalize('NFKC').toLowerCase());
  if (COMMON_PASSWORDS.has(plain) || names.includes(plain) || new Set(plain).size === 1) {
    return ['must not contain commonly used combinations of words and letters'];
  }
  const { passwordHash } = of;
  const same = typeof passwordHash === 'string' && (await verifyPassword(password, passwordHash));
  return same ? ['must not be the present one'] : [];
}
