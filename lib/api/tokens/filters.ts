import type { TokenFilters } from '../../domain/tokens/user-tokens.ts';
import * as p from '../../http/params.ts';
import type { Direction } from '../../store/table/sorted-sources.ts';

/** Query parameters that filter and sort lists of access tokens. */
export const filters = () => ({
  state: p.oneOf(['active', 'inactive'], {
    description: 'Return only active tokens, or only tokens that are revoked or expired',
  }),
  revoked: p.boolean({ description: 'Return only tokens that are revoked, or only those that are not' }),
  search: p.string({ description: 'Return only tokens whose name contains this text' }),
  created_after: p.datetime({ description: 'Return only tokens created after this time (ISO 8601)' }),
  created_before: p.datetime({ description: 'Return only tokens created before this time (ISO 8601)' }),
  last_used_after: p.datetime({ description: 'Return only tokens last used after this time (ISO 8601)' }),
  last_used_before: p.datetime({ description: 'Return only tokens last used before this time (ISO 8601)' }),
  expires_after: p.date({ description: 'Return only tokens that expire after this date (`YYYY-MM-DD`)' }),
  expires_before: p.date({ description: 'Return only tokens that expire before this date (`YYYY-MM-DD`)' }),
  sort: p.oneOf(['created_asc', 'created_desc'], {
    default: 'created_asc',
    description: 'Order of the tokens',
  }),
});

interface Given {
  readonly state?: 'active' | 'inactive';
  readonly revoked?: boolean;
  readonly search?: string;
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly last_used_after?: Date;
  readonly last_used_before?: Date;
  readonly expires_after?: string;
  readonly expires_before?: string;
  readonly sort?: 'created_asc' | 'created_desc';
}

/** The filters as the domain takes them. */
export function filtersOf(given: Given): TokenFilters & { direction: Direction } {
  const filters = {
    state: given.state,
    revoked: given.revoked,
    search: given.search,
    createdAfter: given.created_after?.toISOString(),
    createdBefore: given.created_before?.toISOString(),
    lastUsedAfter: given.last_used_after?.toISOString(),
    lastUsedBefore: given.last_used_before?.toISOString(),
    expiresAfter: given.expires_after,
    expiresBefore: given.expires_before,
  };
  const set = Object.entries(filters).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(set) as TokenFilters),
    direction: given.sort === 'created_desc' ? 'desc' : 'asc',
  };
}
