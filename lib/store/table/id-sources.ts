/** Ids of what is listed, from rows of the table that stand in the order of these ids. */

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
  /** As far as the row tells it. */
  readonly visibility?: string | undefined;
  /** Its places in orders other than by id, as far as the row tells them. */
  readonly orders?: Readonly<Record<string, string>> | undefined;
}

export interface IdSource {
  /** In order of the ids, some at a time, `limit` at first; bounds are padded ids, inclusive. */
  read(direction: Direction, range: Range, limit: number): AsyncGenerator<readonly Row[]>;
}

/** The most rows that are sorted in memory for an order other than by id. */
const MAX_ROWS = 10_000;

/** What a user owns, has starred or is a member of; what is over is left out. */
export const idsOfUser = (table: Table, userId: number, row: 'OWN' | 'STAR' | 'MEMBER'): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const bounds = boundsOf(`${row}#`, from, to);
    const where = { index: 'byUser', partition: userPartition(userId), ...bounds } as const;
    for await (const items of pages(table, where, direction, limit)) {
      yield items.filter((item) => !over(item)).map((item) => rowOf(item, item['what'] as string));
    }
  },
});

/** What an index finds under a partition of its own, by padded ids. */
export const idsOfIndex = (table: Table, partition: string): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const where = { index: 'byUser', partition, ...boundsOf('', from, to) } as const;
    for await (const items of pages(table, where, direction, limit)) {
      yield items.map((item) => rowOf(item, item['what'] as string));
    }
  },
});

/** What stands below a group, directly or deeper, or what it was invited to. */
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

/** Groups below one that came in, and whose content has no rows here yet; more than these are waited for. */
const MAX_SETTLING = 100;

/** Which those are, those in those too; read once, when it is first asked. */
export function pendingMovesBelow(table: Table, groupId: number): () => Promise<readonly number[]> {
  let found: Promise<readonly number[]> | undefined;
  const read = async () => {
    const ids: number[] = [];
    const seen = new Set([groupId]);
    for (let next = [groupId]; next.length > 0 && ids.length < MAX_SETTLING; ) {
      const where = { prefix: PENDING_MOVE, limit: MAX_SETTLING, only: ['sk'], consistent: false };
      const read = await Promise.all(
        next.map((id) => table.query({ ...where, partition: treePartition(id) })),
      );
      next = [...new Set(read.flatMap(({ items }) => items.map(({ sk }) => idOf(sk as string))))];
      next = next.filter((id) => !seen.has(id)).slice(0, MAX_SETTLING - ids.length);
      for (const id of next) seen.add(id);
      ids.push(...next);
    }
    return ids;
  };
  return () => {
    found ??= read();
    return found;
  };
}

/** What stands below those, which rows here do not tell. */
export const idsBelowMovingGroups = (
  table: Table,
  settling: () => Promise<readonly number[]>,
  kind: TreeKind,
): IdSource => ({
  async *read(direction, range, limit) {
    const ids = await settling();
    if (ids.length > 0) yield* unionOf(async () => idsBelow(table, ids, kind)).read(direction, range, limit);
  },
});

/** All that stands below these groups. */
export const idsBelow = (table: Table, ids: readonly number[], kind: TreeKind): IdSource[] =>
  ids.flatMap((id) => (['DIRECT', 'DEEP'] as const).map((row) => idsOfTree(table, id, row, kind)));

/** What rows below groups tell of groups. */
const ORDERS = ['byName', 'byPath'] as const;
const ordersOf = ({ byName, byPath }: Item): Row['orders'] =>
  typeof byName === 'string' && typeof byPath === 'string' ? { byName, byPath } : undefined;

/** The projects that were forked from one; who may see each is its own business. */
export const idsOfForks = (table: Table, projectId: number): IdSource => ({
  async *read(direction, { from, to }, limit) {
    const where = { partition: projectKey(projectId).pk, ...boundsOf(FORK, from, to), only: ['sk'] };
    for await (const items of pages(table, where, direction, limit)) {
      yield items.map((item) => rowOf(item, item['sk'] as string));
    }
  },
});

/** Rows that are at hand. */
export const fixedIds = (rows: readonly Row[]): IdSource => ({
  async *read(direction, { from, to }) {
    const inside = rows.filter(
      ({ id }) => (from === undefined || padded(id) >= from) && (to === undefined || padded(id) <= to),
    );
    yield inside.toSorted((a, b) => (direction === 'asc' ? a.id - b.id : b.id - a.id));
  },
});

/** Several sets as one; they are found out when the first row is wanted. */
export const unionOf = (sets: () => Promise<readonly IdSource[]>): IdSource => ({
  async *read(direction, range, limit) {
    const rows = new Map<number, Row>();
    const sources = (await sets()).map((set) =>
      keysById(set, direction, range, limit, (row) => void rows.set(row.id, row)),
    );
    for await (const { id } of mergeKeys(sources, direction)) {
      yield [rows.get(id)!];
      rows.delete(id);
    }
  },
});

/** Only what can be loaded: for rows that do not say by themselves that the viewer sees what they lead to. */
export const filteredBy = (
  set: IdSource,
  load: (ids: readonly number[]) => Promise<readonly unknown[]>,
): IdSource => ({
  async *read(direction, range, limit) {
    for await (const rows of set.read(direction, range, Math.min(limit, JUDGED))) {
      if (rows.length === 0) continue;
      const loaded = await load(rows.map(({ id }) => id));
      yield rows.filter((_, i) => loaded[i] !== undefined);
    }
  },
});
const JUDGED = 100;

/** The ids as a list in their order has them. */
export function keysById(
  set: IdSource,
  direction: Direction,
  range: Range,
  limit: number,
  seen: (row: Row) => void = () => {},
): KeySource {
  const rows = set.read(direction, range, limit);
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

/** The ids in another order: {@link MAX_ROWS} at most are sorted, by what the rows or else the records say of it. */
export async function keysSorted(
  table: Table,
  set: IdSource,
  direction: Direction,
  by: {
    index: string;
    keyOf: (id: number) => Key;
    /** By the row, and by these attributes of the record. */
    wanted?: (row: Row) => boolean;
    with?: readonly string[];
    keep?: (item: Item) => boolean;
  },
): Promise<KeySource> {
  const keys: Position[] = [];
  const ids: number[] = [];
  for await (const row of allRows(set)) {
    if (!(by.wanted?.(row) ?? true)) continue;
    const sort = by.keep === undefined ? row.orders?.[by.index] : undefined;
    if (sort === undefined) ids.push(row.id);
    else keys.push({ sort, id: row.id });
    if (ids.length + keys.length >= MAX_ROWS) break;
  }
  const items = await table.batchGet(ids.map(by.keyOf), { only: [by.index, ...(by.with ?? [])] });
  for (const [i, item] of items.entries()) {
    const sort = item?.[by.index];
    if (typeof sort === 'string' && (by.keep?.(item!) ?? true)) keys.push({ sort, id: ids[i]! });
  }
  return listSource(keys, direction);
}

export async function* allRows(set: IdSource): AsyncGenerator<Row> {
  for await (const rows of set.read('asc', {}, 1000)) yield* rows;
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

/** Whether a row is of a membership that has expired. */
const over = ({ expiresAt }: Item): boolean => typeof expiresAt === 'string' && isExpired({ expiresAt });

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
