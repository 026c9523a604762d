import { randomBytes } from 'node:crypto';
import type { TokenRecord, TokenScope } from '../../records/tokens.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Origin } from '../actor.ts';
import {
  type AuditAuthor,
  type AuditedEntity,
  prepareAudited,
  requesterOf,
  SYSTEM,
} from '../audit-events/event.ts';
import { dayIn, dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { badRequest, conflict, notFound, unprocessable } from '../errors.ts';
import { auditedToken, openedBy } from './audit.ts';

/** @returns a new token's text: the prefix and 20 URL-safe characters. */
export const newTokenText = (prefix: string): string => prefix + randomBytes(15).toString('base64url');

/** Returns the text of a new personal token, with the prefix of the instance. */
export const newAccessText = async ({ settings }: Deps): Promise<string> =>
  newTokenText((await settings.current()).personal_access_token_prefix ?? '');

/** A token with its text, which is shown only once. */
export interface ToldToken {
  readonly token: TokenRecord;
  readonly text: string;
}

/** Attributes of a new token. */
export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** `YYYY-MM-DD` */
  readonly expiresAt: string | null;
}

/** Returns problems by field; empty when valid. */
export async function tokenProblems(
  deps: Deps,
  { name, scopes, expiresAt }: TokenInput,
): Promise<Record<string, string[]>> {
  const now = deps.now();
  const latest = await latestEnd(deps, now);
  return {
    ...(name.trim() === '' ? { name: ["can't be blank"] } : {}),
    ...(scopes.length === 0 ? { scopes: ["can't be blank"] } : {}),
    ...(isPast(expiresAt, now) ? { expires_at: ['cannot be a date in the past'] } : {}),
    ...(latest !== undefined && expiresAt === null ? { expires_at: ["can't be blank"] } : {}),
    ...(latest !== undefined && (expiresAt ?? '') > latest ? { expires_at: ['is invalid'] } : {}),
  };
}

/** Returns the latest allowed expiry date, if the instance limits it. */
async function latestEnd({ settings }: Deps, now: Date): Promise<string | undefined> {
  const { max_personal_access_token_lifetime: days } = await settings.current();
  return days === null ? undefined : dayIn(now, days);
}

/** Returns the first problem as a sentence; undefined when there is none. */
export function firstSentence(problems: Readonly<Record<string, readonly string[]>>): string | undefined {
  const [first] = Object.entries(problems);
  if (first === undefined) return undefined;
  const name = first[0].replaceAll('_', ' ');
  return `${name[0]!.toUpperCase()}${name.slice(1)} ${first[1][0]}`;
}

/**
 * Revokes a token, effective from the next request. Idempotent.
 * @param options.entity what the token gives access to, if known
 * @param options.why reason for the audit event
 * @throws 404
 */
export async function revokeToken(
  deps: Deps,
  author: AuditAuthor,
  token: TokenRecord,
  { entity: known, why }: { readonly entity?: AuditedEntity; readonly why?: string } = {},
): Promise<void> {
  const [entity, event] = await Promise.all([known ?? openedBy(deps, token), prepareAudited(deps, author)]);
  const what = { action: 'Revoked', ...(why !== undefined && { why }) } as const;
  // If the entity is deleted, there is no place for the audit event.
  const alongside = entity === undefined ? [] : [event(auditedToken(entity, token, what))];
  try {
    await deps.store.tokens.revoke(token, alongside);
  } catch (error) {
    throw error instanceof Missing ? notFound() : error;
  }
}

/** Default lifetime of a token created by rotation. */
const ROTATED_DAYS = 7;

/**
 * Rotates a token: creates a new one and revokes the old one. Rotating a revoked token again shows that its text has
 * leaked: the current token that replaced it is revoked too.
 *
 * @param expiresAt `YYYY-MM-DD`; default: in a week
 * @param known what the token gives access to, if known
 * @throws 400 for a revoked token, 422 for a date in the past, 409 for a concurrent rotation, 404
 */
export async function rotateToken(
  deps: Deps,
  author: AuditAuthor,
  token: TokenRecord,
  expiresAt: string | undefined,
  known?: AuditedEntity,
): Promise<ToldToken> {
  const now = deps.now();
  if (token.revoked) {
    await revokeFamily(deps, author, token);
    throw badRequest('token already revoked');
  }
  const latest = await latestEnd(deps, now);
  const week = dayIn(now, ROTATED_DAYS);
  const until = expiresAt ?? (latest === undefined || week < latest ? week : latest);
  // One that ends today has ended, and the token that it replaces would be revoked.
  if (until <= dayOf(now)) throw unprocessable('Expires at cannot be a date in the past');
  if (latest !== undefined && until > latest) throw unprocessable('Expires at is invalid');
  const text = await newAccessText(deps);
  const [entity, event] = await Promise.all([known ?? openedBy(deps, token), prepareAudited(deps, author)]);
  if (entity === undefined) throw notFound();
  const rotationEvent = (created: TokenRecord) =>
    event(auditedToken(entity, token, { action: 'Rotated', newId: created.id }));
  try {
    const next = { hash: tokenHash(text), expiresAt: until };
    const rotated = await deps.store.tokens.rotate(token, next, now, (created) => [rotationEvent(created)]);
    return { token: rotated, text };
  } catch (error) {
    if (error instanceof Stale) throw conflict('409 Conflict: Resource lock');
    throw error instanceof Missing ? notFound() : error;
  }
}

/** Revokes the current token that replaced one whose old text is still used. */
export async function revokeFamily(deps: Deps, author: AuditAuthor, token: TokenRecord): Promise<void> {
  const current = await deps.store.tokens.successor(token);
  if (current === undefined || current.revoked) return;
  const why = `: token ${token.id}, whose place it took, was used to rotate`;
  await revokeToken(deps, author, current, { why });
}

/** Audit author for a request with a revoked token: no user, only an IP address. */
export const unknownFrom = (origin: Origin | undefined): AuditAuthor => ({
  kind: 'requester',
  ...requesterOf(SYSTEM),
  ...(origin && { address: origin.address }),
});

const isPast = (day: string | null, now: Date): boolean => day !== null && day < dayOf(now);
