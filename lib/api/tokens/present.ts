import { hasEnded, isActive } from '../../domain/access/token-check.ts';
import type { DeployTokenRecord, TokenRecord } from '../../records/tokens.ts';

/** An access token without its text, which only the response to its creation contains. */
export function token(record: TokenRecord, now: Date) {
  return {
    id: record.id,
    name: record.name,
    revoked: record.revoked,
    created_at: record.createdAt,
    scopes: [...record.scopes],
    user_id: record.userId,
    last_used_at: record.lastUsedAt,
    active: isActive(record, now),
    expires_at: record.expiresAt,
  };
}

export const impersonationToken = (record: TokenRecord, now: Date) => ({
  ...token(record, now),
  impersonation: true,
});

/** An access token of a project or group. */
export const botToken = (record: TokenRecord, now: Date) => ({
  ...token(record, now),
  access_level: record.accessLevel ?? 0,
});

export function deployToken(record: DeployTokenRecord, now: Date) {
  return {
    id: record.id,
    name: record.name,
    username: record.username,
    expires_at: record.expiresAt,
    scopes: [...record.scopes],
    // Revoking a deploy token deletes it.
    revoked: false,
    expired: hasEnded(record, now),
  };
}
