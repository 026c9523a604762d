import { isActive } from '../../domain/tokens.ts';
import type { TokenRecord } from '../../store/records.ts';

/** A personal access token; its text is in the answer to its creation and nowhere else. */
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
