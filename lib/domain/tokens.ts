import { createHash, randomBytes } from 'node:crypto';
import { Missing, Stale } from '../store/errors.ts';
import type { TokenRecord, TokenScope } from '../store/records.ts';
import type { Deps } from './deps.ts';
import { badRequest, conflict, DomainError, notFound, unprocessable } from './errors.ts';

/** What clients and secret scanners know tokens by; whatever stands behind it is random. */
export const TOKEN_PREFIXES = { access: 'glpat-', deploy: 'gldt-' } as const;

/** @returns a new token's text: the prefix and 20 URL-safe characters. */
export const newTokenText = (kind: keyof typeof TOKEN_PREFIXES = 'access'): string =>
  TOKEN_PREFIXES[kind] + randomBytes(15).toString('base64url');

/** The form in which a token is stored and found. */
export const tokenHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A token expires at the start of its day in UTC. */
export const isExpired = (token: { readonly expiresAt: string | null }, now: Date): boolean =>
  token.expiresAt !== null && token.expiresAt <= dayOf(now);

export const isActive = (token: TokenRecord, now: Date): boolean => !token.revoked && !isExpired(token, now);

/** @throws DomainError `invalid-token`, with the description OAuth clients expect (RFC 6750, 3.1). */
export function demandActive(token: TokenRecord, now: Date): void {
  if (token.revoked) {
    throw new DomainError('invalid-token', 'Token was revoked. You have to re-authorize from the user.');
  }
  if (isExpired(token, now)) {
    throw new DomainError(
      'invalid-token',
      'Token is expired. You can either do re-authorization or token refresh.',
    );
  }
}

/** A token with its text, which is told this once. */
export interface ToldToken {
  readonly token: TokenRecord;
  readonly text: string;
}

/** What somebody wants a token to be. */
export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** A day. */
  readonly expiresAt: string | null;
}

/** What is wrong with it by field; empty when nothing is. */
export function tokenProblems({ name, scopes, expiresAt }: TokenInput, now: Date): Record<string, string[]> {
  return {
    ...(name.trim() === '' ? { name: ["can't be blank"] } : {}),
    ...(scopes.length === 0 ? { scopes: ["can't be blank"] } : {}),
    ...(isPast(expiresAt, now) ? { expires_at: ['cannot be a date in the past'] } : {}),
  };
}

/** The first of the problems as a sentence. @returns undefined when there is none */
export function firstSentence(problems: Readonly<Record<string, readonly string[]>>): string | undefined {
  const [first] = Object.entries(problems);
  if (first === undefined) return undefined;
  const name = first[0].replaceAll('_', ' ');
  return `${name[0]!.toUpperCase()}${name.slice(1)} ${first[1][0]}`;
}

/** Takes effect at the next request. Twice is as good as once. @throws 404 */
export async function revokeToken(deps: Deps, token: TokenRecord): Promise<void> {
  try {
    await deps.store.tokens.revoke(token);
  } catch (error) {
    throw error instanceof Missing ? notFound() : error;
  }
}

/** How long a token that takes another's place lives when nobody says so. */
const ROTATED_DAYS = 7;

/**
 * Puts a new token in the place of one, which is revoked with that. To rotate one that is revoked already tells that
 * somebody has an old text: what stands in its place now is revoked too.
 *
 * @param expiresAt a day; in a week when not given
 * @throws 400 for a revoked one, 422 for a day in the past, 409 for who came second at the same moment, 404
 */
export async function rotateToken(
  deps: Deps,
  token: TokenRecord,
  expiresAt: string | undefined,
): Promise<ToldToken> {
  const now = deps.now();
  if (token.revoked) {
    await revokeFamily(deps, token);
    throw badRequest('token already revoked');
  }
  const until = expiresAt ?? dayOf(new Date(now.getTime() + ROTATED_DAYS * 86_400_000));
  if (isPast(until, now)) throw unprocessable('Expires at cannot be a date in the past');
  const text = newTokenText();
  try {
    const rotated = await deps.store.tokens.rotate(token, { hash: tokenHash(text), expiresAt: until }, now);
    return { token: rotated, text };
  } catch (error) {
    if (error instanceof Stale) throw conflict('409 Conflict: Resource lock');
    throw error instanceof Missing ? notFound() : error;
  }
}

/** Ends what took the place of a token whose old text somebody still uses. */
export async function revokeFamily(deps: Deps, token: TokenRecord): Promise<void> {
  const current = await deps.store.tokens.successor(token);
  if (current === undefined || current.revoked) return;
  await revokeToken(deps, current);
}

const isPast = (day: string | null, now: Date): boolean => day !== null && day <= dayOf(now);
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
