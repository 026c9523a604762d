/**
 * Pages: by number (`page`, `per_page`) with totals, and by place in an order (`pagination=keyset`). Clients page by
 * `Link` or by `X-Next-Page`, so a list by number carries both.
 */
import { SECRET_PARAMETERS } from './credentials.ts';
import type { KeysetRule, Paginate } from './endpoint.ts';
import { HttpFailure } from './errors.ts';
import { integer, oneOf, params, string } from './params.ts';

/** A page by number. */
export interface OffsetPage {
  readonly kind: 'offset';
  readonly page: number;
  readonly perPage: number;
  /** Rows before the page; at most 50,000. */
  readonly offset: number;
}

/** A page by its place in an order. */
export interface KeysetPage {
  readonly kind: 'keyset';
  readonly perPage: number;
  /** The last page's marker: an id, a page token or a cursor, as the caller gave it back. */
  readonly after: string | undefined;
  readonly orderBy: string | undefined;
  readonly sort: 'asc' | 'desc' | undefined;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Rows of the whole list when they are known; above 10,000 they are not told. */
  readonly total?: number | undefined;
  /** Whether another page follows; without it and `total`, a full page is taken to have one. */
  readonly more?: boolean | undefined;
  /** The marker after which the next keyset page starts; absent on the last. */
  readonly next?: string | undefined;
}

export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 100;
export const MAX_OFFSET = 50_000;
/** Above this many rows the total is not told. */
export const MAX_TOTAL = 10_000;

const offsetFields = {
  page: integer({ default: 1, description: 'Page number, from 1' }),
  per_page: integer({ default: DEFAULT_PER_PAGE, except: [0], description: 'Rows per page, at most 100' }),
};

const keysetFields = (rule: KeysetRule, paginate: Paginate) => ({
  ...(paginate === 'keyset' ? { per_page: offsetFields.per_page } : offsetFields),
  // `offset` is what one of the client libraries calls the other kind.
  pagination: oneOf(['keyset', 'legacy', 'none', 'offset'], {
    description: 'keyset: page by the last row instead of by number',
  }),
  ...(rule.marker === 'id'
    ? {
        id_after: integer({ description: 'Rows with a greater id' }),
        id_before: integer({ description: 'Rows with a smaller id' }),
      }
    : { [rule.marker]: string({ description: 'The row the previous page ended with' }) }),
});

/** The parameters that pagination adds to an endpoint. */
export const paginationParameters = (paginate: Paginate, rule?: KeysetRule) =>
  params(paginate === 'offset' || rule === undefined ? offsetFields : keysetFields(rule, paginate));

type Given = Readonly<Record<string, unknown>>;

/**
 * The page that is asked for. `given` are the pagination parameters after their schema; `order_by` and `sort` come
 * from the endpoint's own query.
 * @throws HttpFailure 405 for a place beyond the offset limit or an order that keyset pagination does not know
 */
export function pageRequest(
  paginate: Paginate,
  rule: KeysetRule | undefined,
  given: Given,
  query: Given,
  noun: string,
): OffsetPage | KeysetPage {
  const asked = given['per_page'] as number;
  const perPage = asked < 0 ? DEFAULT_PER_PAGE : Math.min(asked, MAX_PER_PAGE);
  if (
    rule !== undefined &&
    (paginate === 'keyset' || (paginate !== 'offset' && given['pagination'] === 'keyset'))
  ) {
    const orderBy = typeof query['order_by'] === 'string' ? query['order_by'] : undefined;
    if (rule.orderBy !== undefined && !rule.orderBy.includes(orderBy ?? '')) throw keysetUnavailable();
    const sort = query['sort'] === 'asc' || query['sort'] === 'desc' ? query['sort'] : undefined;
    const marker = given[markerName(rule, sort)];
    return {
      kind: 'keyset',
      perPage,
      after: marker === undefined ? undefined : String(marker),
      orderBy,
      sort,
    };
  }
  const page = Math.max(1, given['page'] as number);
  const offset = (page - 1) * perPage;
  if (offset > MAX_OFFSET) {
    throw new HttpFailure(405, {
      error: `Offset pagination has a maximum allowed offset of ${MAX_OFFSET} for requests that return objects of type ${noun}. Remaining records can be retrieved using keyset pagination.`,
    });
  }
  return { kind: 'offset', page, perPage, offset };
}

const keysetUnavailable = () =>
  new HttpFailure(405, { error: 'Keyset pagination is not yet available for this type of request' });

const markerName = (rule: KeysetRule, sort: string | undefined): string =>
  rule.marker !== 'id' ? rule.marker : sort === 'asc' ? 'id_after' : 'id_before';

/** The headers of a page. `url` is without a query; `effective` all parameters in force, path parameters too. */
export function pageHeaders(
  page: OffsetPage | KeysetPage,
  list: Page<unknown>,
  rule: KeysetRule | undefined,
  url: string,
  effective: Given,
): Record<string, string> {
  const link = (changed: Given, rel: string) =>
    `<${url}?${queryText({ ...effective, per_page: page.perPage, ...changed })}>; rel="${rel}"`;
  if (page.kind === 'keyset') {
    if (list.next === undefined || rule === undefined) return {};
    const marker = { id_after: undefined, id_before: undefined, [markerName(rule, page.sort)]: list.next };
    return { Link: link({ ...marker, page: undefined }, 'next') };
  }
  const total = list.total !== undefined && list.total <= MAX_TOTAL ? list.total : undefined;
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / page.perPage));
  const more =
    list.more ??
    (list.total === undefined ? list.items.length >= page.perPage : page.offset + page.perPage < list.total);
  const previous = page.page > 1 ? page.page - 1 : undefined;
  const next = more ? page.page + 1 : undefined;
  const links = [
    ...(previous === undefined ? [] : [link({ page: previous }, 'prev')]),
    ...(next === undefined ? [] : [link({ page: next }, 'next')]),
    link({ page: 1 }, 'first'),
    ...(pages === undefined ? [] : [link({ page: pages }, 'last')]),
  ];
  return {
    'X-Page': String(page.page),
    'X-Per-Page': String(page.perPage),
    'X-Next-Page': String(next ?? ''),
    'X-Prev-Page': String(previous ?? ''),
    ...(total === undefined ? {} : { 'X-Total': String(total), 'X-Total-Pages': String(pages) }),
    Link: links.join(', '),
  };
}

/** `a=1&k%5B%5D=x`, sorted, without secrets and without what is undefined. */
export function queryText(parameters: Given): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (value === undefined) return;
    if (Array.isArray(value)) for (const item of value) add(`${name}[]`, item);
    else if (value instanceof Date) add(name, value.toISOString());
    else if (value === null) pairs.push(`${formText(name)}=`);
    else if (typeof value === 'object') {
      for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
    } else pairs.push(`${formText(name)}=${formText(String(value))}`);
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (!SECRET_PARAMETERS.has(name)) add(name, value);
  }
  return pairs.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).join('&');
}

/** As a form encodes: a space is `+`. */
const formText = (text: string) =>
  encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
