import type { TokenFilters } from '../../domain/tokens/user-tokens.ts';
import * as p from '../../http/params.ts';
import type { Direction } from '../../store/table/sorted-sources.ts';

/** How lists of access tokens are narrowed. */
export const filters = () => ({
  state: p.oneOf(['active', 'inactive'], { description: 'Whether revoked or expired' }),
  revoked: p.boolean(),
  search: p.string({ description: 'Part of the name' }),
  created_after: p.datetime(),
  created_before: p.datetime(),
  last_used_after: p.datetime(),
  last_used_before: p.datetime(),
  expires_after: p.date(),
  expires_before: p.date(),
  sort: p.oneOf(['created_asc', 'created_desc'], { default: 'created_asc' }),
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

/** The same, as the rules take it. */
export function filtersOf(given: Given): TokenFilters & { direction: Direction } {
  const wanted = {
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
  const set = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(set) as TokenFilters),
    direction: given.sort === 'created_desc' ? 'desc' : 'asc',
  };
}
