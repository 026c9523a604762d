/** The rows of an access token: its record with list attributes, the rows that point to it, and the owner's count. */

import type { TokenRecord } from '../../records/tokens.ts';
import { padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import { accessTokenRow, type TokenOwner, tokenCountKey, tokenIdKey, tokenKey } from '../row-keys/tokens.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { ABSENT, type Item, type Write } from '../table/write.ts';

export type NewToken = Omit<TokenRecord, 'id' | 'createdAt' | 'lastUsedAt' | 'revoked'>;

/** Maximum number of live tokens per owner; revoked tokens do not count. */
export const MAX_TOKENS = 500;

/** The list of the tokens of all users. */
export const TOKEN_LIST = 'TOKEN#all';

/**
 * Counts one more live token of an owner.
 * @param bots number of bots created before: also counts one more bot, on condition that this number is unchanged
 */
export const counted = (owner: TokenOwner, bots?: number): Write => ({
  update: tokenCountKey(owner),
  add: { live: 1, ...(bots === undefined ? {} : { bots: 1 }) },
  if: `(attribute_not_exists(#live) OR #live < :limit)${
    bots === undefined ? '' : ` AND ${bots === 0 ? 'attribute_not_exists(#bots)' : '#bots = :bots'}`
  }`,
  values: { limit: MAX_TOKENS, ...(bots === undefined || bots === 0 ? {} : { bots }) },
  reason: 'tokens',
});

export const ownerOf = ({ resource, userId }: NewToken): TokenOwner =>
  resource ?? { kind: 'user', id: userId };

export const familyOf = ({ familyId, id }: TokenRecord): number => familyId ?? id;

export function rowsOf(record: TokenRecord): Write[] {
  const { id, hash, userId, resource, impersonation } = record;
  const list = impersonation === true ? {} : { list: listPartition(TOKEN_LIST, id), byId: padded(id) };
  return [
    {
      put: {
        ...tokenKey(hash),
        ...record,
        scopes: [...record.scopes],
        ...list,
        who: userPartition(userId),
        what: userRow(impersonation === true ? 'IMPERSONATION' : 'TOKEN', id),
      },
      if: ABSENT,
      reason: 'token',
    },
    { put: { ...tokenIdKey(id), hash }, if: ABSENT, reason: 'token-id' },
    ...(resource === undefined ? [] : [{ put: { ...accessTokenRow(resource, id), userId } }]),
  ];
}

export function fromItem(item: Item | undefined): TokenRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _b, who: _o, what: _a, ...rest } = item;
  return rest as unknown as TokenRecord;
}
