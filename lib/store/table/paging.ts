/**
 * Pages of lists that are spread over several partitions: keys are merged in order, and only the page
 * itself is loaded.
 */

import { StoreError } from '../errors.ts';
import type { Position } from './cursor.ts';
import { MAX_CHUNK } from './sorted-sources.ts';
import type { QueryOptions, Table } from './table.ts';
import type { Item } from './write.ts';

/** How many records a filtered list loads at once when it has to go far. */
const MAX_STEP = 400;
/** How many records a filtered list loads to tell its total. */
const COUNT_WALK = 1000;
/** More match a search that was not found out than a total is counted for. */
export const countWalk = (search: string | undefined): number =>
  (search?.trim() ?? '') === '' ? COUNT_WALK : 0;
/** Beyond this offset a list must be read by keyset. */
export const MAX_OFFSET = 50_000;
/** Totals above this are not told. */
export const MAX_TOTAL = 10_000;

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  /** Tell the total: a keyset page does not need it, and it costs reads. */
  readonly count?: boolean;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined above {@link MAX_TOTAL}, or where it was not asked for. */
  readonly total: number | undefined;
  /** Whether another page follows. */
  readonly more: boolean;
  /** A filter looked at as many records as it may before the page was full: there may be more. */
  readonly truncated?: true;
  /** Of the last item, for a cursor; absent on an empty page. */
  readonly last?: Position;
}

/** How many keys to read at once from each source so that the page needs one read of each, two at most. */
export function chunkFor({ page, perPage }: PageRequest, sources: number): number {
  const wanted = (page - 1) * perPage;
  return Math.min(MAX_CHUNK, perPage + 1 + Math.ceil((wanted * 1.1) / Math.max(1, sources)));
}

export interface LoadOptions<T> {
  /** The records behind keys, in their order; undefined where one is gone or not to be seen. */
  readonly load: (ids: readonly number[]) => Promise<readonly (T | undefined)[]>;
  /** When given, only loaded records that pass count, and all on the way are loaded. */
  readonly where?: ((record: T) => boolean) | undefined;
  /** How many may be loaded to find those that pass. */
  readonly walk?: number;
  /** How many may be loaded to tell the total once the page is complete. */
  readonly countWalk?: number;
}

/**
 * Cuts one page out of merged keys.
 * A filtered walk that was bounded before the page was full answers with what it found and no total.
 * @throws StoreError `bad-page` beyond {@link MAX_OFFSET}
 */
export async function cutPage<T>(
  keys: AsyncGenerator<Position>,
  request: PageRequest,
  { load, where, walk = 5000, countWalk = COUNT_WALK }: LoadOptions<T>,
): Promise<Page<T>> {
  const offset = (request.page - 1) * request.perPage;
  if (offset > MAX_OFFSET) throw new StoreError('bad-page', `an offset above ${MAX_OFFSET}`);
  const items: T[] = [];
  let last: Position | undefined;
  let skip = where === undefined ? offset : 0;
  for (; skip > 0; skip--) {
    if ((await keys.next()).done) return { items, total: undefined, more: false };
  }
  let loaded = 0;
  let matches = 0;
  let step = 100;
  let batch: Position[] = [];
  let more = false;
  let ended = false;
  const countAll = where !== undefined && (request.count ?? false);
  // Once the page is complete, only the total is left to find, and that may cost less.
  const most = () => (more ? (countAll ? countWalk : 0) : walk);
  while (!ended && loaded < most()) {
    // Unfiltered, one key beyond the page tells whether another follows; then only what late rows left open.
    const size = where === undefined ? request.perPage - items.length : Math.min(step, most() - loaded);
    step = Math.min(MAX_STEP, 2 * step);
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
  const undecided = where !== undefined && !ended && !more;
  const full = items.length === request.perPage;
  const truncated = undecided && !full;
  return {
    items,
    total,
    more: more || (undecided && full),
    ...(last === undefined ? {} : { last }),
    ...(truncated ? { truncated } : {}),
  };
}

/**
 * Counts keys of several partitions at the same time, each its share of what may be counted, so that they are not all
 * counted up to the limit. @returns undefined above {@link MAX_TOTAL}.
 */
export async function countPartitions(
  table: Table,
  partitions: readonly CountedPartition[],
): Promise<number | undefined> {
  let rest: { where: CountedPartition; startKey?: Item }[] = partitions.map((where) => ({ where }));
  let total = 0;
  while (rest.length > 0) {
    if (total > MAX_TOTAL) return undefined;
    const share = Math.max(MIN_SHARE, Math.ceil((MAX_TOTAL + 1 - total) / rest.length));
    const counted = await Promise.all(
      rest.map(async ({ where, startKey }) => {
        const { count, next } = await table.countSome({ ...where, ...(startKey && { startKey }) }, share);
        total += count;
        return next === undefined ? [] : [{ where, startKey: next }];
      }),
    );
    rest = counted.flat();
  }
  return total > MAX_TOTAL ? undefined : total;
}
type CountedPartition = Pick<QueryOptions, 'index' | 'partition' | 'from' | 'to' | 'consistent'>;
/** Keys that one unit pays for, many times over. */
const MIN_SHARE = 500;

/**
 * One page of the table's own rows below a prefix, in the order of their sort keys. What comes before it is read and
 * not transferred.
 * @throws StoreError `bad-page` beyond {@link MAX_OFFSET}
 */
export async function pageOfRows(
  table: Table,
  rows: { readonly partition: string; readonly prefix: string },
  request: PageRequest,
): Promise<Page<Item>> {
  const offset = (request.page - 1) * request.perPage;
  if (offset > MAX_OFFSET) throw new StoreError('bad-page', `an offset above ${MAX_OFFSET}`);
  const total = request.count ? table.count(rows, MAX_TOTAL) : undefined;
  // Its failure is told where it is awaited.
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
  const wanted = { ...rows, limit: request.perPage + 1, ...(startKey === undefined ? {} : { startKey }) };
  for await (const item of table.queryAll(wanted)) {
    items.push(item);
    if (items.length > request.perPage) break;
  }
  const more = items.length > request.perPage;
  return { items: items.slice(0, request.perPage), total: await total, more };
}
