/**
 * Pages of lists that are spread over several partitions: keys are merged in order, and only the records of the page
 * are loaded.
 */

import { StoreError } from '../errors.ts';
import type { Position } from './cursor.ts';
import { behindRow, type Countable, MAX_CHUNK } from './sorted-sources.ts';
import type { QueryOptions, Table } from './table.ts';
import type { Item } from './write.ts';

/** Maximum number of records that a filtered list loads at once. */
const MAX_BATCH_SIZE = 400;
/** Maximum number of records that a filtered list loads to determine its total. */
const COUNT_WALK = 1000;
/** Returns how many records to load to determine the total: none for a search, whose matches are too many by then. */
export const countWalk = (search: string | undefined): number =>
  (search?.trim() ?? '') === '' ? COUNT_WALK : 0;
/** Maximum offset: beyond it a list must be read by keyset. */
export const MAX_OFFSET = 50_000;
/** Larger totals are not returned. */
export const MAX_TOTAL = 10_000;

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  /** Whether to return the total: keyset pages do not need it, and it costs reads. */
  readonly count?: boolean;
  /** Of a list that can be read behind any of its rows. */
  readonly rows?: {
    /** Where the page before ended. */
    readonly after?: Position;
    /** Takes where this page ended, if another may follow. */
    readonly ended: (last: Position) => void;
  };
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined above {@link MAX_TOTAL}, or if not requested. */
  readonly total: number | undefined;
  /** Whether another page follows. */
  readonly more: boolean;
  /** The filter reached its limit of loaded records before the page was full: there may be more. */
  readonly truncated?: true;
  /** For a cursor: position of the last item, or of the last record that a truncated page looked at; absent for nothing. */
  readonly last?: Position;
}

/** Returns how many keys to read at once from each source, so that a page needs one or two reads of each. */
export function chunkFor({ page, perPage, rows }: PageRequest, sources: number): number {
  const offset = (page - 1) * perPage;
  // The row behind which it begins is read as well.
  const begin = rows?.after === undefined ? 0 : 1;
  return Math.min(MAX_CHUNK, begin + perPage + 1 + Math.ceil((offset * 1.1) / Math.max(1, sources)));
}

export interface LoadOptions<T> {
  /** Loads records, in the order of the ids; undefined where one was deleted or is not visible. */
  readonly load: (ids: readonly number[]) => Promise<readonly (T | undefined)[]>;
  /** A filter. If given, every record up to the end of the page is loaded. */
  readonly where?: ((record: T) => boolean) | undefined;
  /** How many records a filtered list loads first; by default 100. */
  readonly batchSize?: number;
  /** Maximum number of records loaded to fill the page. */
  readonly walk?: number;
  /** Maximum number of records loaded to determine the total once the page is complete. */
  readonly countWalk?: number;
}

/** @returns how many items are before a page. @throws StoreError `bad-page` beyond {@link MAX_OFFSET} */
export function requireOffset({ page, perPage }: PageRequest): number {
  const offset = (page - 1) * perPage;
  if (offset > MAX_OFFSET) throw new StoreError('bad-page', `an offset above ${MAX_OFFSET}`);
  return offset;
}

/**
 * Cuts one page out of merged keys.
 * If a filtered list reaches its limit before the page is full, the page is partial and has no total.
 * @throws StoreError `bad-page` beyond {@link MAX_OFFSET}
 */
export async function cutPage<T>(
  keys: AsyncGenerator<Position>,
  request: PageRequest,
  { load, where, batchSize = 100, walk = 5000, countWalk = COUNT_WALK }: LoadOptions<T>,
): Promise<Page<T>> {
  const offset = requireOffset(request);
  const items: T[] = [];
  let last: Position | undefined;
  let lastLoaded: Position | undefined;
  let skip = where === undefined ? offset : 0;
  for (; skip > 0; skip--) {
    if ((await keys.next()).done) return { items, total: undefined, more: false };
  }
  let loaded = 0;
  let matches = 0;
  let nextSize = batchSize;
  let batch: Position[] = [];
  let more = false;
  let ended = false;
  const countAll = where !== undefined && (request.count ?? false);
  // Once the page is complete, only the total remains, which has a smaller budget.
  const maxLoaded = () => (more ? (countAll ? countWalk : 0) : walk);
  while (!ended && loaded < maxLoaded()) {
    // Unfiltered, one key beyond the page shows whether another follows; later rounds fill gaps of stale index rows.
    const size =
      where === undefined ? request.perPage - items.length : Math.min(nextSize, maxLoaded() - loaded);
    nextSize = Math.min(MAX_BATCH_SIZE, 2 * nextSize);
    batch = [];
    while (batch.length < size) {
      const key = await keys.next();
      if (key.done) {
        ended = true;
        break;
      }
      batch.push(key.value);
    }
    if (batch.length === 0) break;
    const records = await load(batch.map((key) => key.id));
    loaded += batch.length;
    for (const [i, record] of records.entries()) {
      if (record !== undefined) lastLoaded = batch[i]!;
      if (record === undefined || !(where?.(record) ?? true)) continue;
      if (where !== undefined && matches++ < offset) continue;
      if (items.length < request.perPage) {
        items.push(record);
        last = batch[i]!;
      } else more = true;
    }
    if (where === undefined && items.length === request.perPage) {
      more = !ended && !(await keys.next()).done;
      break;
    }
  }
  const total = countAll && ended ? matches : undefined;
  const full = items.length === request.perPage;
  const undecided = !ended && !more && (where !== undefined || !full);
  const truncated = undecided && !full;
  const goesOn = more || (undecided && full);
  // The key of what is not shown would tell about it.
  const end = goesOn ? last : truncated ? lastLoaded : undefined;
  if (end !== undefined) request.rows?.ended(end);
  return {
    items,
    total,
    more: goesOn,
    ...positionOf(truncated ? batch.at(-1) : last),
    ...(truncated ? { truncated } : {}),
  };
}

const positionOf = (last: Position | undefined) => (last === undefined ? {} : { last });

/**
 * Counts the keys of several sources in parallel. Each gets a share of the limit, so that not every one is counted up to
 * it. @returns undefined above {@link MAX_TOTAL}.
 */
export async function countSources(sources: readonly Countable[]): Promise<number | undefined> {
  let remaining: { source: Countable; startKey?: Item }[] = sources.map((source) => ({ source }));
  let total = 0;
  while (remaining.length > 0) {
    if (total > MAX_TOTAL) return undefined;
    const share = Math.max(MIN_SHARE, Math.ceil((MAX_TOTAL + 1 - total) / remaining.length));
    const counted = await Promise.all(
      remaining.map(async ({ source, startKey }) => {
        const { count, next } = await source.count(share, startKey);
        total += count;
        return next === undefined ? [] : [{ source, startKey: next }];
      }),
    );
    remaining = counted.flat();
  }
  return total > MAX_TOTAL ? undefined : total;
}

/** Counts the keys of partitions that no source reads. @returns undefined above {@link MAX_TOTAL}. */
export const countPartitions = (
  table: Table,
  partitions: readonly CountedPartition[],
): Promise<number | undefined> =>
  countSources(
    partitions.map((where) => ({
      count: (limit, startKey) => table.countPage({ ...where, ...(startKey && { startKey }) }, limit),
    })),
  );

type CountedPartition = Pick<QueryOptions, 'index' | 'partition' | 'from' | 'to' | 'consistent'>;
/** Minimum number of keys counted per request. */
const MIN_SHARE = 500;

/**
 * Returns one page of the table's rows with a prefix, in the order of their sort keys. Skipped rows are read but not
 * transferred.
 * @throws StoreError `bad-page` beyond {@link MAX_OFFSET}
 */
export async function pageOfRows(
  table: Table,
  rows: { readonly partition: string; readonly prefix: string },
  request: PageRequest,
): Promise<Page<Item>> {
  const offset = requireOffset(request);
  const total = request.count ? table.count(rows, MAX_TOTAL) : undefined;
  const after = request.rows?.after?.sort;
  // Its failure is thrown where it is awaited.
  total?.catch(() => {});
  let startKey: Item | undefined;
  for (let skip = offset; skip > 0; ) {
    const page = await table.query({
      ...rows,
      limit: Math.min(1000, skip),
      only: ['sk'],
      ...(startKey === undefined ? {} : { startKey }),
    });
    skip -= page.items.length;
    if (page.next === undefined) return { items: [], total: await total, more: false };
    startKey = page.next;
  }
  const items: Item[] = [];
  const wanted = request.perPage + (after === undefined ? 1 : 2);
  const begun = { ...behindRow(rows, 'asc', after), limit: wanted };
  for await (const item of table.queryAll({ ...begun, ...(startKey === undefined ? {} : { startKey }) })) {
    if (item['sk'] === after) continue;
    items.push(item);
    if (items.length > request.perPage) break;
  }
  const more = items.length > request.perPage;
  const shown = items.slice(0, request.perPage);
  if (more) request.rows?.ended({ sort: shown.at(-1)!['sk'] as string, id: 0 });
  return { items: shown, total: await total, more };
}
