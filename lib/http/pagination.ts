/**
 * Offset pagination (`page`, `per_page`) with totals, and keyset pagination (`pagination=keyset`). Clients follow either
 * `Link` or `X-Next-Page`, so offset pagination returns both.
 */
import { SECRET_PARAMETERS } from './credentials.ts';
import { HttpFailure } from './errors.ts';
import { integer, oneOf, params, string } from './params.ts';

/** A page of offset pagination. */
export interface OffsetPage {
  readonly kind: 'offset';
  readonly page: number;
  readonly perPage: number;
  /** Number of items before the page; at most 50,000. */
  readonly offset: number;
  /** The marker of the page before, if the caller followed its link: what stands before need not be counted. */
  readonly after?: string;
  /** Takes the marker of this page as soon as it is known. */
  readonly ended?: (marker: string) => void;
  /** Of a list by its rows: the page has no number and no total. */
  readonly keyset?: true;
  /** The number that was asked for, where this is the last page that is read by number. */
  readonly beyond?: number;
}

/** A page of keyset pagination. */
export interface KeysetPage {
  readonly kind: 'keyset';
  readonly perPage: number;
  /** The marker of the previous page, as the caller returned it: an id, a page token or a cursor. */
  readonly after: string | undefined;
  readonly orderBy: string | undefined;
  readonly sort: 'asc' | 'desc' | undefined;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number of items in the whole list, if known; above 10,000 it is not returned to the caller. */
  readonly total?: number | undefined;
  /** Whether there is another page. If this and `total` are absent, a full page is assumed to have a next one. */
  readonly more?: boolean | undefined;
  /** The marker of this page, after which the next keyset page starts; absent on the last page. */
  readonly next?: string | undefined;
}

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;
export const MAX_OFFSET = 50_000;
/** Above this number of items, the total is not returned. */
const MAX_TOTAL = 10_000;

const offsetFields = {
  page: integer({ default: 1, description: 'Page number, starting at 1' }),
  per_page: integer({
    default: DEFAULT_PER_PAGE,
    except: [0],
    description: 'Number of items per page, at most 100',
  }),
};

const METHOD =
  'Pagination method; `keyset` continues after the last item of a page instead of counting pages';

const keysetFields = (rule: KeysetRule, paginate: Paginate) => ({
  ...(paginate === 'keyset' ? { per_page: offsetFields.per_page } : offsetFields),
  pagination: rule.rows
    ? // Clients that knew no keyset of the list could send anything.
      string({ description: METHOD })
    : // One client library sends `offset` for offset pagination.
      oneOf(['keyset', 'legacy', 'none', 'offset'], { description: METHOD }),
  ...(rule.marker === 'id'
    ? {
        id_after: integer({ description: 'Return only items with a greater ID' }),
        id_before: integer({ description: 'Return only items with a smaller ID' }),
      }
    : {
        [rule.marker]: string({
          description: `Marker of the previous page, from its \`Link\` header${rule.links ? '' : '; keyset pagination only'}`,
        }),
      }),
});

/** The parameters that pagination adds to an endpoint. */
export const paginationParameters = (paginate: Paginate, rule?: KeysetRule) =>
  params(rule === undefined ? offsetFields : keysetFields(rule, paginate));

type Given = Readonly<Record<string, unknown>>;

/** How an endpoint declares its pages. */
export interface Paginated {
  readonly paginate: Paginate;
  readonly keyset?: KeysetRule;
  /** Type of the items, for error messages: `Project`. */
  readonly noun?: string;
  /** The list is walked from its beginning in any case, within bounds of its own: no offset is refused. */
  readonly anyOffset?: boolean;
}

/**
 * The requested page. `given` are the validated pagination parameters; `order_by` and `sort` come from the endpoint's own
 * query.
 * @throws HttpFailure 405 for an offset above the limit of a list that has another way, or an order that has none
 */
export function pageRequest(
  { paginate, keyset: rule, noun = 'record', anyOffset = false }: Paginated,
  given: Given,
  query: Given,
): OffsetPage | KeysetPage {
  const requested = given['per_page'] as number;
  const perPage = requested < 0 ? DEFAULT_PER_PAGE : Math.min(requested, MAX_PER_PAGE);
  if (
    rule !== undefined &&
    (paginate === 'keyset' || (paginate !== 'offset' && given['pagination'] === 'keyset'))
  ) {
    const orderBy = typeof query['order_by'] === 'string' ? query['order_by'] : undefined;
    if (!supports(rule, query)) throw keysetUnavailable();
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
  if (rule?.rows && given['pagination'] === 'keyset') {
    const marker = given[rule.marker] as string | undefined;
    // Some clients send the method with every list, of which the product knows few: their numbers are numbers.
    if (marker !== undefined || page === 1) {
      const after = marker === undefined ? {} : { after: marker };
      return { kind: 'offset', page: 1, perPage, offset: 0, keyset: true, ...after };
    }
  }
  const offset = (page - 1) * perPage;
  if (offset > MAX_OFFSET && !anyOffset) {
    if (paginate !== 'offset') throw tooFar(rule, noun);
    const before = Math.floor(MAX_OFFSET / perPage);
    return { kind: 'offset', page: before + 1, perPage, offset: before * perPage, beyond: page };
  }
  const after = rule?.links && supports(rule, query) ? markedAfter(given[rule.marker], offset) : undefined;
  return { kind: 'offset', page, perPage, offset, ...(after === undefined ? {} : { after }) };
}

const tooFar = (rule: KeysetRule | undefined, noun: string) => {
  const others = rule === undefined ? '' : ' Remaining records can be retrieved using keyset pagination.';
  return new HttpFailure(405, {
    error: `Offset pagination has a maximum allowed offset of ${MAX_OFFSET} for requests that return objects of type ${noun}.${others}`,
  });
};

/** The page beyond the last one that is read by number, which is empty. @throws HttpFailure 405 where there is more */
export function pageBeyond(
  {
    keyset,
    noun = 'record',
  }: { readonly keyset?: KeysetRule | undefined; readonly noun?: string | undefined },
  page: OffsetPage,
  list: Page<unknown>,
): readonly [OffsetPage, Page<unknown>] {
  if (page.beyond === undefined) return [page, list];
  if (goesOn(page, list)) throw tooFar(keyset, noun);
  const asked = { ...page, page: page.beyond, offset: (page.beyond - 1) * page.perPage };
  return [asked, { items: [], total: list.total, more: false }];
}

const goesOn = ({ offset, perPage }: OffsetPage, { more, total, items }: Page<unknown>): boolean =>
  more ?? (total === undefined ? items.length >= perPage : offset + perPage < total);

/** Whether the keyset has the order of a query. */
export const supports = ({ orderBy }: KeysetRule, query: Given): boolean =>
  orderBy === undefined || orderBy.includes(query['order_by'] as string);

/** In links of offset pages a marker tells how many items stand before it: a caller may keep it and change the page. */
const marked = (offset: number, marker: string): string => `${offset}.${marker}`;

/** The marker in the link from a page to the next one. */
export const markedFor = ({ offset, perPage }: OffsetPage, marker: string): string =>
  marked(offset + perPage, marker);

/** The marker that a link to the page at the offset has, or what is kept of it; undefined for one to another page. */
export function markedAfter(given: unknown, offset: number): string | undefined {
  const prefix = marked(offset, '');
  return typeof given === 'string' && given.startsWith(prefix) ? given.slice(prefix.length) : undefined;
}

export const keysetUnavailable = () =>
  new HttpFailure(405, { error: 'Keyset pagination is not yet available for this type of request' });

const markerName = (rule: KeysetRule, sort: string | undefined): string =>
  rule.marker !== 'id' ? rule.marker : sort === 'asc' ? 'id_after' : 'id_before';

/** The headers of a page. `url` has no query; `effective` are all parameters including defaults and path parameters. */
export function pageHeaders(
  page: OffsetPage | KeysetPage,
  list: Page<unknown>,
  rule: KeysetRule | undefined,
  url: string,
  effective: Given,
): Record<string, string> {
  const link = (changed: Given, rel: string) =>
    `<${url}?${queryText({ ...effective, per_page: page.perPage, ...changed })}>; rel="${rel}"`;
  const behindMarker = ({ sort }: { readonly sort?: unknown }, how: Given = {}): string | undefined => {
    if (list.next === undefined || rule === undefined) return undefined;
    // A bound at the other end stays: it is a filter.
    const marker = markerName(rule, sort === 'asc' ? sort : undefined);
    return link({ [marker]: list.next, page: undefined, ...how }, 'next');
  };
  if (page.kind === 'keyset' || page.keyset) {
    const next = behindMarker(page.kind === 'keyset' ? page : {});
    return next === undefined ? {} : { Link: next };
  }
  const total = list.total !== undefined && list.total <= MAX_TOTAL ? list.total : undefined;
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / page.perPage));
  const more = goesOn(page, list);
  const unmarked = rule?.links ? { [rule.marker]: undefined } : {};
  const isMarked = rule?.links && list.next !== undefined && supports(rule, effective);
  const following = isMarked ? { [rule.marker]: markedFor(page, list.next) } : unmarked;
  const previous = page.page > 1 ? page.page - 1 : undefined;
  const next = more ? page.page + 1 : undefined;
  // Where numbers end, those who follow links go on by keyset.
  const isLast = more ? page.offset + page.perPage > MAX_OFFSET : rule?.rows;
  const onByKeyset =
    isLast && rule !== undefined && supports(rule, effective)
      ? behindMarker(effective, { pagination: 'keyset' })
      : undefined;
  const onward = onByKeyset ?? (next === undefined ? undefined : link({ ...following, page: next }, 'next'));
  const links = [
    ...(previous === undefined ? [] : [link({ ...unmarked, page: previous }, 'prev')]),
    ...(onward === undefined ? [] : [onward]),
    link({ ...unmarked, page: 1 }, 'first'),
    ...(pages === undefined ? [] : [link({ ...unmarked, page: pages }, 'last')]),
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

/** `a=1&k%5B%5D=x`, sorted, without secrets and undefined values. */
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

/** Encodes as forms do: a space is `+`. */
const formText = (text: string) =>
  encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

export type Paginate = 'offset' | 'offset+keyset' | 'keyset';

/** How keyset pagination refers to the next page. */
export interface KeysetRule {
  /** Name of the parameter; `id` means `id_after` or, in descending order, `id_before`. */
  readonly marker: 'id' | 'page_token' | 'cursor';
  /** The values of `order_by` that keyset pagination supports; all when absent. */
  readonly orderBy?: readonly string[];
  /** The link to the next offset page has the marker too, so that pages deep in a list cost what the first one does. */
  readonly links?: true;
  /** Pages of either kind are read as offset pages, which say where to begin and take the marker of where they ended. */
  readonly rows?: true;
}
