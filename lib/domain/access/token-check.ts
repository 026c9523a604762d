import { createHash } from 'node:crypto';
import { isExpired } from '../../records/expiry.ts';
import type { DeployTokenRecord, TokenRecord } from '../../records/tokens.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';

/** Prefixes by which clients and secret scanners recognise tokens; a random text follows. */
export const TOKEN_PREFIXES = { access: 'glpat-', deploy: 'gldt-' } as const;

/** The user name with which jobs show their token, as runners send it. */
export const JOB_USERNAME = 'gitlab-ci-token';

/** The form in which a token is stored and found. */
export const tokenHash = (text: string): string => createHash('sha256').update(text).digest('hex');

export const isActive = (token: TokenRecord, now: Date): boolean => !token.revoked && !isExpired(token, now);

/**
 * Requires a token that is neither revoked nor expired. An instance setting decides whether expiry applies to
 * personal access tokens; it always does to project, group and impersonation tokens.
 * @throws DomainError `invalid-token`, with the description OAuth clients expect (RFC 6750, 3.1)
 */
export async function requireActive({ settings, now }: Deps, token: TokenRecord): Promise<void> {
  if (token.revoked) {
    throw new DomainError('invalid-token', 'Token was revoked. You have to re-authorize from the user.');
  }
  if (isExpired(token, now())) {
    const personal = token.resource === undefined && token.impersonation !== true;
    if (personal && !(await settings.current()).enforce_pat_expiration) return;
    throw new DomainError(
      'invalid-token',
      'Token is expired. You can either do re-authorization or token refresh.',
    );
  }
}

/** The username of a deploy token for which none was chosen. */
export const usualName = (id: number) => `deploy-token-${id}`;

/** Prefix of the default username in the product whose API this implements: existing scripts send it. */
const FOREIGN_PREFIX = 'gitlab+';

/** Whether the given username belongs to the token. */
export const isUsername = ({ id, username }: DeployTokenRecord, given: string): boolean =>
  given === username || (username === usualName(id) && given === FOREIGN_PREFIX + username);

export const hasEnded = ({ expiresAt }: DeployTokenRecord, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now.toISOString();
