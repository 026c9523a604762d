import { createHash } from 'node:crypto';
import type { DeployTokenRecord, TokenRecord } from '../../records/tokens.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';

/** What clients and secret scanners know tokens by; whatever stands behind it is random. */
export const TOKEN_PREFIXES = { access: 'glpat-', deploy: 'gldt-' } as const;

/** The form in which a token is stored and found. */
export const tokenHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A token expires at the start of its day in UTC. */
const isExpired = (token: { readonly expiresAt: string | null }, now: Date): boolean =>
  token.expiresAt !== null && token.expiresAt <= dayOf(now);

export const isActive = (token: TokenRecord, now: Date): boolean => !token.revoked && !isExpired(token, now);

/**
 * What somebody's own token is good for beyond its day is the instance's to say; others end with theirs.
 * @throws DomainError `invalid-token`, with the description OAuth clients expect (RFC 6750, 3.1).
 */
export async function requireActive({ settings, now }: Deps, token: TokenRecord): Promise<void> {
  if (token.revoked) {
    throw new DomainError('invalid-token', 'Token was revoked. You have to re-authorize from the user.');
  }
  if (isExpired(token, now())) {
    const own = token.resource === undefined && token.impersonation !== true;
    if (own && !(await settings.current()).enforce_pat_expiration) return;
    throw new DomainError(
      'invalid-token',
      'Token is expired. You can either do re-authorization or token refresh.',
    );
  }
}

/** What a token is shown with when nobody chose a name. */
export const usualName = (id: number) => `deploy-token-${id}`;

/** Scripts write the usual name of the product whose interface this is. */
const FOREIGN_PREFIX = 'gitlab+';

/** Whether it is the name a token is to be shown with. */
export const isUsername = ({ id, username }: DeployTokenRecord, given: string): boolean =>
  given === username || (username === usualName(id) && given === FOREIGN_PREFIX + username);

export const hasEnded = ({ expiresAt }: DeployTokenRecord, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now.toISOString();
