import { callerOf, openRequest } from '../domain/access/open-request.ts';
import { requireAbility, requireGroupAbility } from '../domain/access/permissions.ts';
import type { Deps } from '../domain/deps.ts';
import { badRequest } from '../domain/errors.ts';
import { rowsAt } from '../domain/page-by-cursor.ts';
import { Admissions } from '../domain/rate-limits/request-counting.ts';
import { revokeFamily, unknownFrom } from '../domain/tokens/tokens.ts';
import { endpointFor, type HttpDeps } from '../http/endpoint.ts';
import type { KeysetPage, OffsetPage } from '../http/pagination.ts';
import type { Page } from '../store/table/paging.ts';

/** Dependencies of handlers: those of the domain rules, and the access control of HTTP. */
export interface ApiDeps extends Deps, Omit<HttpDeps, 'settings'> {}

/** `endpoint()` with this service's dependencies. */
export const endpoint = endpointFor<ApiDeps>();

/** Adds access control and rate limits to the dependencies of the domain rules. */
export function apiDeps(deps: Deps): ApiDeps {
  return {
    ...deps,
    pageEnds: {
      last: (list) => deps.store.pageEnds.last(list, deps.now()),
      keep: (list, end) => deps.store.pageEnds.keep(list, end, deps.now()),
    },
    admissions: new Admissions({
      settings: deps.settings,
      counts: deps.store.rateLimits,
      now: deps.now,
      callerOf: (credential) => callerOf(deps, credential),
    }),
    access: {
      open: (request) =>
        request.deploy === undefined
          ? openRequest(deps, request, (token, origin) => revokeFamily(deps, unknownFrom(origin), token))
          : request.deploy.open(deps, request),
      authorize: ({ actor, project, group }, rule) => {
        if (rule.kind === 'project') requireAbility(actor, project!, rule.ability);
        else requireGroupAbility(actor, group!, rule.ability);
      },
    },
  };
}

/** Pagination of lists that have a keyset in the order of creation. */
export const IN_ORDER_OF_CREATION = {
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor', orderBy: ['created_at'], links: true },
} as const;

/** A page token that is the id of the last item of the page before. @throws 400 for another text */
export function idOfToken(token: string | undefined): number | undefined {
  if (token === undefined) return undefined;
  if (!/^\d{1,12}$/.test(token)) throw badRequest('page_token is invalid');
  return Number(token);
}

/** Store parameters of a keyset page: the first one behind its token. */
export const firstOf = ({ perPage }: KeysetPage) => ({ page: 1, perPage });

/** The token of the next page of {@link idOfToken}; also behind a page that is not full because its filter passed over many. */
export const nextIdOf = ({
  more,
  truncated,
  last,
}: Pick<Page<unknown>, 'more' | 'truncated' | 'last'>): string | undefined =>
  (more || truncated) && last !== undefined ? String(last.id) : undefined;

/** Pagination of lists of rows: in any order, by number and by keyset. Their pages are {@link counted}. */
export const BY_ROWS = { paginate: 'offset', keyset: { marker: 'cursor', rows: true } } as const;

/** Store parameters of an offset page, with the total counted; of a list by its rows also where it begins and ends. */
export const counted = ({ page, perPage, keyset, after, ended }: OffsetPage) => ({
  page,
  perPage,
  count: keyset !== true,
  ...(ended === undefined ? {} : { rows: rowsAt(keyset ? after : undefined, ended) }),
});

/** The same, or those of a keyset page, which has no total. */
export const countedOrAfter = (page: OffsetPage | KeysetPage) => ({
  ...(page.kind === 'offset'
    ? { page: page.page, perPage: page.perPage, count: true }
    : { page: 1, perPage: page.perPage }),
  ...(page.after === undefined ? {} : { cursor: page.after }),
  ...(page.kind === 'offset' && page.ended !== undefined ? { ended: page.ended } : {}),
});
