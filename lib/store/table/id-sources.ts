/** Sources of ids for lists: rows of the table that are sorted by these ids. */

import { isExpired } from '../../records/expiry.ts';
import { FORK } from '../row-keys/forks.ts';
import { PENDING_MOVE, type TreeKind, type TreeRow, treePartition, treePrefix } from '../row-keys/groups.ts';
import { idOf, type Key, padded } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { userPartition } from '../row-keys/users.ts';
import type { Position } from './cursor.ts';
import {
  type Direction,
  type KeySource,
  listSource,
  mergeKeys,
  nextChunk,
  type Range,
} from './sorted-sources.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

export interface Row {
  readonly id: number;
  /** Undefined where the row does not hold it. */
  readonly visibility?: string | undefined;
  /** Its sort keys in other orders, where the row holds them. */
  readonly orders?: Readonly<Record<string, string>> | undefined;
}

export interface IdSource {
  /** Reads ids in order, in chunks of `limit` at first; bounds are padded ids, inclusive. */
  read(direction: Direction, range: Range, limit: number): AsyncGenerator<readonly Row[]>;
}

/** Maximum number of rows sorted in memory for an order other than by id. */
const MAX_ROWS = 10_000;

/** Projects a user owns, starred or is a member of; expired memberships are left out. */
export const idsOfUser = (table: Table, userId: number, row: 'OWN' | 'STAR' | 'MEMBER'): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const bounds = boundsOf(`${row}#`, from, to);
    const where = { index: 'byUser', partition: userPartition(userId), ...bounds } as const;
    for await (const items of pages(table, where, direction, limit)) {
      yield items.filter((item) => !hasExpired(item)).map((item) => rowOf(item, item['what'] as string));
    }
  },
});

/** As many rows are read in one request. */
const FEW = 200;
/** As {@link hasExpired} says: whether they have is not asked of them. */
const UNEXPIRED = 'NOT attribute_type(#expiresAt, :string) OR #expiresAt > :today';

/**
 * The rows of a kind that a user has, as the index shows them, without expired memberships; undefined where there are more
 * than `few`. One request.
 * @param options.show what is asked of them beside their keys: names and times of so many would be most of an answer
 */
export async function fewOfUser(
  table: Table,
  userId: number,
  row: string,
  { few = FEW, show = [] }: { readonly few?: number; readonly show?: readonly string[] } = {},
): Promise<readonly Item[] | undefined> {
  const where = { index: 'byUser', partition: userPartition(userId), prefix: `${row}#` } as const;
  const values = { string: 'S', today: new Date().toISOString().slice(0, 10) };
  const unexpired = { where: UNEXPIRED, values, only: ['what', ...show] };
  const { items, next } = await table.query({ ...where, limit: few, ...unexpired });
  return next === undefined ? items : undefined;
}

/** Ids of an index partition that is sorted by padded ids. */
export const idsOfIndex = (table: Table, partition: string): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const where = { index: 'byUser', partition, ...boundsOf('', from, to) } as const;
    for await (const items of pages(table, where, direction, limit)) {
      yield items.map((item) => rowOf(item, item['what'] as string));
    }
  },
});

/** Children or deeper descendants of a group, or what it was invited to. */
export const idsOfTree = (table: Table, groupId: number, row: TreeRow, kind: TreeKind): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const bounds = boundsOf(treePrefix(row, kind), from, to);
    const only = ['sk', 'visibility', ...(kind === 'group' ? ORDERS : [])];
    const where = { partition: treePartition(groupId), ...bounds, only };
    for await (const items of pages(table, where, direction, limit)) {
      yield items.map((item) => ({ ...rowOf(item, item['sk'] as string), orders: ordersOf(item) }));
    }
  },
});

/** Maximum number of pending moves followed: groups that were moved in and whose descendants have no rows here yet. */
const MAX_PENDING_MOVES = 100;

/** Returns a function that reads the ids of those groups, nested ones included, once when first called. */
export function pendingMovesBelow(table: Table, groupId: number): () => Promise<readonly number[]> {
  let ids: Promise<readonly number[]> | undefined;
  const read = async () => {
    const ids: number[] = [];
    const seen = new Set([groupId]);
    for (let next = [groupId]; next.length > 0 && ids.length < MAX_PENDING_MOVES; ) {
      const where = { prefix: PENDING_MOVE, limit: MAX_PENDING_MOVES, only: ['sk'], consistent: false };
      const read = await Promise.all(
        next.map((id) => table.query({ ...where, partition: treePartition(id) })),
      );
      next = [...new Set(read.flatMap(({ items }) => items.map(({ sk }) => idOf(sk as string))))];
      next = next.filter((id) => !seen.has(id)).slice(0, MAX_PENDING_MOVES - ids.length);
      for (const id of next) seen.add(id);
      ids.push(...next);
    }
    return ids;
  };
  return () => {
    ids ??= read();
    return ids;
  };
}

/** Descendants of the groups with pending moves. */
export const idsBelowMovingGroups = (
  table: Table,
  pendingMoves: () => Promise<readonly number[]>,
  kind: TreeKind,
): IdSource => ({
  async *read(direction, range, limit) {
    const ids = await pendingMoves();
    if (ids.length > 0) yield* unionOf(async () => idsBelow(table, ids, kind)).read(direction, range, limit);
  },
});

/** All descendants of these groups. */
export const idsBelow = (table: Table, ids: readonly number[], kind: TreeKind): IdSource[] =>
  ids.flatMap((id) => (['DIRECT', 'DEEP'] as const).map((row) => idsOfTree(table, id, row, kind)));

/** Sort keys that the rows of descendant groups hold. */
const ORDERS = ['byName', 'byPath'] as const;
const ordersOf = ({ byName, byPath }: Item): Row['orders'] =>
  typeof byName === 'string' && typeof byPath === 'string' ? { byName, byPath } : undefined;

/** Forks of a project; their visibility is not checked here. */
export const idsOfForks = (table: Table, projectId: number): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const where = { partition: projectKey(projectId).pk, ...boundsOf(FORK, from, to), only: ['sk'] };
    for await (const items of pages(table, where, direction, limit)) {
      yield items.map((item) => rowOf(item, item['sk'] as string));
    }
  },
});

/** Rows in memory. */
export const fixedIds = (rows: readonly Row[]): IdSource => ({
  async *read(direction, { from, to }) {
    const inRange = rows.filter(
      ({ id }) => (from === undefined || padded(id) >= from) && (to === undefined || padded(id) <= to),
    );
    yield inRange.toSorted((a, b) => (direction === 'asc' ? a.id - b.id : b.id - a.id));
  },
});

/** Union of several sources, which are determined when the first row is read. */
export const unionOf = (sources: () => Promise<readonly IdSource[]>): IdSource => ({
  async *read(direction, range, limit) {
    const rows = new Map<number, Row>();
    const keySources = (await sources()).map((source) =>
      keysById(source, direction, range, limit, (row) => void rows.set(row.id, row)),
    );
    for await (const { id } of mergeKeys(keySources, direction)) {
      yield [rows.get(id)!];
      rows.delete(id);
    }
  },
});

/**
 * The same rows, read once for all that read them from the first on, such as an order and a total. At most {@link MAX_ROWS}
 * and one are kept for them: neither needs more.
 */
export function readOnce(source: IdSource): IdSource {
  let all: Promise<readonly Row[]> | undefined;
  const readAll = async () => {
    const rows: Row[] = [];
    for await (const row of allRows(source)) {
      rows.push(row);
      if (rows.length > MAX_ROWS) break;
    }
    return rows;
  };
  return {
    async *read(direction, range, limit) {
      if (direction !== 'asc' || range.from !== undefined || range.to !== undefined)
        return yield* source.read(direction, range, limit);
      all ??= readAll();
      yield await all;
    },
  };
}

/** Only ids that `load` returns: for rows that do not imply that the viewer may see the record. */
export const filteredBy = (
  source: IdSource,
  load: (ids: readonly number[]) => Promise<readonly unknown[]>,
): IdSource => ({
  async *read(direction, range, limit) {
    for await (const rows of source.read(direction, range, Math.min(limit, LOAD_BATCH))) {
      if (rows.length === 0) continue;
      const loaded = await load(rows.map(({ id }) => id));
      yield rows.filter((_, i) => loaded[i] !== undefined);
    }
  },
});
const LOAD_BATCH = 100;

/** The ids as keys, sorted by id. */
export function keysById(
  source: IdSource,
  direction: Direction,
  range: Range,
  limit: number,
  seen: (row: Row) => void = () => {},
): KeySource {
  const rows = source.read(direction, range, limit);
  return {
    async next() {
      for (;;) {
        const { value, done } = await rows.next();
        if (done) return [];
        for (const row of value) seen(row);
        if (value.length > 0) return value.map(({ id }) => ({ sort: padded(id), id }));
      }
    },
  };
}

/** The ids in another order. At most {@link MAX_ROWS} are sorted, by sort keys in the rows or else in the records. */
export async function keysSorted(
  table: Table,
  source: IdSource,
  direction: Direction,
  by: {
    index: string;
    keyOf: (id: number) => Key;
    /** The sort key; by default the attribute `index` of the record. */
    sortOf?: (item: Item, id: number) => unknown;
    /** Filters: `wanted` by the row, `keep` by the attributes `with` of the record. */
    wanted?: (row: Row) => boolean;
    with?: readonly string[];
    keep?: (item: Item) => boolean;
  },
): Promise<KeySource> {
  const keys: Position[] = [];
  const ids: number[] = [];
  for await (const row of allRows(source)) {
    if (!(by.wanted?.(row) ?? true)) continue;
    const sort = by.keep === undefined ? row.orders?.[by.index] : undefined;
    if (sort === undefined) ids.push(row.id);
    else keys.push({ sort, id: row.id });
    if (ids.length + keys.length >= MAX_ROWS) break;
  }
  const items = await table.batchGet(ids.map(by.keyOf), { only: [by.index, ...(by.with ?? [])] });
  for (const [i, item] of items.entries()) {
    const sort = item && (by.sortOf?.(item, ids[i]!) ?? item[by.index]);
    if (typeof sort === 'string' && (by.keep?.(item!) ?? true)) keys.push({ sort, id: ids[i]! });
  }
  return listSource(keys, direction);
}

export async function* allRows(source: IdSource): AsyncGenerator<Row> {
  for await (const rows of source.read('asc', {}, 1000)) yield* rows;
}

const rowOf = (item: Item, key: string): Row => ({
  id: idOf(key),
  visibility: item['visibility'] as string | undefined,
});

const boundsOf = (prefix: string, from = padded(0), to = LAST) => ({
  from: `${prefix}${from}`,
  to: `${prefix}${to}`,
});
const LAST = padded(Number.MAX_SAFE_INTEGER);

/** Whether a row is of an expired membership. */
export const hasExpired = ({ expiresAt }: Item): boolean =>
  typeof expiresAt === 'string' && isExpired({ expiresAt });

async function* pages(
  table: Table,
  where: Parameters<Table['query']>[0],
  direction: Direction,
  limit: number,
): AsyncGenerator<readonly Item[]> {
  let startKey: Item | undefined;
  let wanted = limit;
  do {
    const page = await table.query({
      ...where,
      reverse: direction === 'desc',
      limit: wanted,
      ...(startKey === undefined ? {} : { startKey }),
    });
    yield page.items;
    wanted = nextChunk(wanted);
    startKey = page.next;
  } while (startKey !== undefined);
}
