/** Sorted sources of keys, and their merge into one order. */

import { StoreError } from '../errors.ts';
import { idOf, padded } from '../row-keys/key.ts';
import type { Position } from './cursor.ts';
import type { IndexName } from './schema.ts';
import type { QueryOptions, QueryPage, Table } from './table.ts';
import { compareText } from './text-order.ts';
import type { Item } from './write.ts';

export type Direction = 'asc' | 'desc';

/** Bounds of a source's sort key, inclusive. */
export interface Range {
  readonly from?: string;
  readonly to?: string;
}

/** Of keys that a prefix and an id make, those behind one. */
export const behind = (prefix: string, id: number, direction: Direction): Required<Range> =>
  direction === 'asc'
    ? { from: prefix + padded(id + 1), to: `${prefix}~` }
    : { from: prefix, to: prefix + padded(id - 1) };

/** Behind every row with a prefix, whose last character is of ASCII. */
const endOf = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
/** The table refuses longer sort keys. */
const MAX_KEY_BYTES = 1024;

/**
 * Rows of a query from one of them on, which is read as well.
 * @param sort its sort key; undefined for all rows
 * @throws StoreError `bad-page` for one that is not among them
 */
export function behindRow<Q extends Rows>(
  query: Q,
  direction: Direction,
  sort: string | undefined,
): Omit<Q, keyof Rows> & Rows {
  if (sort === undefined) return query;
  const { prefix, from: first = prefix, to: last = prefix && endOf(prefix), ...where } = query;
  const isKey = sort !== '' && Buffer.byteLength(sort) <= MAX_KEY_BYTES;
  if (!isKey || !sort.startsWith(prefix ?? '')) throw new StoreError('bad-page', 'the list has no such row');
  const from = direction === 'desc' || (first !== undefined && compareText(first, sort) > 0) ? first : sort;
  const to = direction === 'asc' || (last !== undefined && compareText(last, sort) < 0) ? last : sort;
  return { ...where, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

interface Rows extends Range {
  readonly prefix?: string;
}

/** A source of keys in one order. */
export interface KeySource {
  /** @returns the next keys; an empty list at the end. */
  next(): Promise<readonly Position[]>;
}

/** Something that has a number of keys, counted in steps. */
export interface Countable {
  /**
   * Counts about `limit` keys, behind the one that an earlier call returned as `next`.
   * @returns `next` where there may be more
   */
  count(limit: number, startKey?: Item): Promise<{ readonly count: number; readonly next?: Item }>;
}

export interface IndexPartition extends Range {
  readonly index: Exclude<IndexName, 'byUser'>;
  readonly partition: string;
}

/** Maximum number of keys read at once. */
export const MAX_CHUNK = 1000;
/** Each further read of a source takes twice as many keys. */
export const nextChunk = (chunk: number): number => Math.min(MAX_CHUNK, 2 * chunk);

/** Keys of one partition of an index, `chunk` at first, from one on; the records are not read. */
export const indexSource = (
  table: Table,
  where: IndexPartition,
  direction: Direction,
  chunk: number,
  after?: Position,
): KeySource & Countable =>
  querySource(table, behindRow(where, direction, after?.sort), direction, chunk, (item) => ({
    sort: item[where.index] as string,
    id: idOf(item['pk'] as string),
  }));

/** Keys that `keyOf` derives from a query's items, `chunk` at first. What is read first is counted without another read. */
export function querySource(
  table: Table,
  query: Omit<QueryOptions, 'reverse' | 'limit' | 'startKey'>,
  direction: Direction,
  chunk: number,
  keyOf: (item: Item) => Position,
): KeySource & Countable {
  const ordered = { ...query, reverse: direction === 'desc' };
  let first: Promise<QueryPage> | undefined;
  const firstPage = () => (first ??= table.query({ ...ordered, limit: chunk }));
  let startKey: Item | undefined;
  let limit = chunk;
  let done = false;
  return {
    async next() {
      while (!done) {
        const page = await (startKey === undefined
          ? firstPage()
          : table.query({ ...ordered, limit, startKey }));
        limit = nextChunk(limit);
        startKey = page.next;
        done = startKey === undefined;
        if (page.items.length > 0) return page.items.map(keyOf);
      }
      return [];
    },
    async count(atMost, behind) {
      if (behind !== undefined) return table.countPage({ ...ordered, startKey: behind }, atMost);
      const { items, next } = await firstPage();
      return { count: items.length, ...(next !== undefined && { next }) };
    },
  };
}

/** Keys of the table's rows with a prefix, `chunk` at a time, from one on; their sort keys end in the ids. */
export function rowSource(
  table: Table,
  where: { readonly partition: string; readonly prefix: string },
  direction: Direction,
  chunk: number,
  after?: Position,
): KeySource {
  const rows = behindRow(where, direction, after?.sort);
  let startKey: Record<string, unknown> | undefined;
  let done = false;
  return {
    async next() {
      if (done) return [];
      const page = await table.query({
        ...rows,
        reverse: direction === 'desc',
        limit: chunk,
        only: ['sk'],
        ...(startKey === undefined ? {} : { startKey }),
      });
      startKey = page.next;
      done = startKey === undefined;
      return page.items.map(({ sk }) => ({ sort: sk as string, id: idOf(sk as string) }));
    },
  };
}

/** Keys in memory; they are sorted here. */
export function listSource(keys: readonly Position[], direction: Direction): KeySource {
  let remaining: readonly Position[] = keys.toSorted(comparing(direction));
  return {
    async next() {
      const all = remaining;
      remaining = [];
      return all;
    },
  };
}

/**
 * Merges sources into one order; a key in several sources comes once. The first chunks are read in parallel.
 * @param after a key behind which it begins
 */
export async function* mergeKeys(
  sources: readonly KeySource[],
  direction: Direction,
  after?: Position,
): AsyncGenerator<Position> {
  const compare = comparing(direction);
  const heads = await Promise.all(
    sources.map(async (source) => ({ source, keys: await source.next(), at: 0 })),
  );
  const seen = new Set<number>();
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      // Refill only now: a page that ends with the chunk's last key needs no further read.
      if (head.at > 0 && head.at === head.keys.length) {
        head.keys = await head.source.next();
        head.at = 0;
      }
      if (head.keys.length === 0) continue;
      if (first === undefined || compare(head.keys[head.at]!, first.keys[first.at]!) < 0) first = head;
    }
    if (first === undefined) return;
    const key = first.keys[first.at++]!;
    if (seen.has(key.id) || (after !== undefined && compare(key, after) <= 0)) continue;
    seen.add(key.id);
    yield key;
  }
}

/** The same keys in another order that goes with the ids. */
export const keyedBy = (source: KeySource, sortOf: (id: number) => string): KeySource => ({
  next: async () => (await source.next()).map(({ id }) => ({ sort: sortOf(id), id })),
});

/**
 * Keys that the others are not among; both rise by id.
 * @param most of the others that are read on the way; beyond it `cut` is called, and no more keys come
 */
export async function* without(
  keys: AsyncGenerator<Position>,
  others: AsyncGenerator<Position>,
  most: number,
  cut: () => void,
): AsyncGenerator<Position> {
  let other = await others.next();
  let passed = 0;
  for await (const key of keys) {
    while (!other.done && other.value.id < key.id) {
      if (++passed > most) return cut();
      other = await others.next();
    }
    if (other.done || other.value.id !== key.id) yield key;
  }
}

/** Bytewise by sort key, then by id; the table sorts UTF-8 bytes, JavaScript UTF-16 units. */
export function comparing(direction: Direction): (a: Position, b: Position) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (a, b) => sign * (compareText(a.sort, b.sort) || a.id - b.id);
}
