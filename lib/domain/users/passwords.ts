import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { UserRecord } from '../../records/users.ts';
import type { InstanceSettings } from '../settings/current.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

const scrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scryptCallback,
);

/** OWASP's minimum for scrypt; kept with each hash, so that it can be raised later. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const KEY_BYTES = 32;

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

/** @returns `scrypt$N$r$p$salt$hash`, salt and hash in Base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), key.toString('base64')].join('$');
}

/** Compares in constant time; a hash of another form never matches. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [kind, N, r, p, salt, hash] = stored.split('$');
  if (kind !== 'scrypt' || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = await derive(password, Buffer.from(salt, 'base64'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  });
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function derive(password: string, salt: Buffer, cost: { N: number; r: number; p: number }): Promise<Buffer> {
  return scrypt(password.normalize('NFKC'), salt, KEY_BYTES, { ...cost, maxmem: 256 * cost.N * cost.r });
}
