import { createHash, randomBytes } from 'node:crypto';
import { Missing } from '../store/errors.ts';
import type { Page, PageRequest } from '../store/paging.ts';
import type { TokenRecord, TokenScope } from '../store/records.ts';
import type { Actor } from './access.ts';
import type { Deps } from './deps.ts';
import { badRequest, DomainError, notFound, unauthorized, unprocessable } from './errors.ts';
import { isAdministrator, signedIn } from './permissions.ts';

/** `glpat-` is what existing clients and secret scanners know a personal access token by. */
const PREFIX = 'glpat-';

/** @returns a new token's text: the prefix and 20 URL-safe characters. */
export const newTokenText = (): string => PREFIX + randomBytes(15).toString('base64url');

/** The form in which a token is stored and found. */
export const tokenHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A token expires at the start of its day in UTC. */
export const isExpired = (token: TokenRecord, now: Date): boolean =>
  token.expiresAt !== null && token.expiresAt <= now.toISOString().slice(0, 10);

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

/** @returns the token and its text, which is told this once. @throws 404 `404 User Not Found`, 422 with a sentence */
export async function createToken(
  deps: Deps,
  input: { userId: number; name: string; scopes: readonly TokenScope[]; expiresAt: string | null },
): Promise<{ token: TokenRecord; text: string }> {
  const now = deps.now();
  if (input.name.trim() === '') throw unprocessable("Name can't be blank");
  if (input.scopes.length === 0) throw unprocessable("Scopes can't be blank");
  if (input.expiresAt !== null && input.expiresAt <= now.toISOString().slice(0, 10)) {
    throw unprocessable('Expires at cannot be a date in the past');
  }
  if ((await deps.store.users.get(input.userId)) === undefined) throw notFound('User');
  const text = newTokenText();
  const { userId, name, expiresAt } = input;
  const scopes = [...new Set(input.scopes)];
  const token = await deps.store.tokens.create(
    { userId, name, scopes, expiresAt, hash: tokenHash(text) },
    { now },
  );
  return { token, text };
}

/** One's own tokens; administrators see everybody's, or one user's. */
export async function listTokens(
  deps: Deps,
  actor: Actor,
  query: PageRequest & { userId?: number },
): Promise<Page<TokenRecord>> {
  const { user } = signedIn(actor);
  if (!isAdministrator(actor)) {
    if (query.userId !== undefined && query.userId !== user.id) throw unauthorized();
    return deps.store.tokens.list({ ...query, userId: user.id });
  }
  if (query.userId !== undefined && (await deps.store.users.get(query.userId)) === undefined)
    throw notFound('User');
  return deps.store.tokens.list(query);
}

/**
 * A token one may know of: one's own, any for administrators. Others' are answered like absent ones.
 * @throws for administrators 404, for others 404 on reading and 400 on revoking, as clients know it
 */
export async function readableToken(
  deps: Deps,
  actor: Actor,
  id: number,
  purpose: 'read' | 'revoke',
): Promise<TokenRecord> {
  const { user } = signedIn(actor);
  const token = await deps.store.tokens.get(id);
  if (token !== undefined && (token.userId === user.id || isAdministrator(actor))) return token;
  throw purpose === 'read' || isAdministrator(actor) ? notFound() : badRequest();
}

/** Takes effect at the next request. Twice is as good as once. */
export async function revokeToken(deps: Deps, token: TokenRecord): Promise<void> {
  try {
    await deps.store.tokens.revoke(token);
  } catch (error) {
    throw error instanceof Missing ? notFound() : error;
  }
}
