/**
 * An immutable sorted table of refs, for what does not fit in one transaction: its rows are written first, the
 * guards name it afterwards. Each row holds a run of refs under the first one's key, so a name is found with one
 * small query and a prefix with one range.
 */
import type { Oid } from '../git/oid.ts';
import type { Ref } from '../git/ports.ts';
import type { RefName } from '../git/refname.ts';
import { refChunkKey, refPrefixSort, refSort, refTableKey, refTablePartition } from './keys.ts';
import type { Table } from './table.ts';
import { compareText } from './text-order.ts';
import type { Item } from './write.ts';

/** Characters of refs in one row: small to read for one name, and far below the 400 KB of an item. */
const CHUNK = 32_000;

/** Registers the table and writes its rows. Nobody reads them before a guard names them. */
export async function writeRefTable(
  table: Table,
  repositoryId: string,
  tableId: string,
  refs: readonly Ref[],
  now = new Date(),
): Promise<void> {
  await table.put({ put: { ...refTableKey(repositoryId, tableId), writtenAt: now.toISOString() } });
  const sorted = refs
    .map((ref) => ({ sort: refSort(ref.name), ref }))
    .toSorted((a, b) => compareText(a.sort, b.sort));
  const rows: Item[] = [];
  let lines: string[] = [];
  let size = 0;
  let first: Ref | undefined;
  const close = () => {
    if (first !== undefined)
      rows.push({ ...refChunkKey(repositoryId, tableId, first.name), refs: lines.join('\n') });
    lines = [];
    size = 0;
    first = undefined;
  };
  for (const { ref } of sorted) {
    first ??= ref;
    const line = `${ref.oid}${ref.peeled === undefined ? '' : `^${ref.peeled}`} ${ref.name}`;
    lines.push(line);
    size += line.length;
    if (size >= CHUNK) close();
  }
  close();
  for (let i = 0; i < rows.length; i += 8) {
    const batch = rows.slice(i, i + 8) as (Item & { pk: string; sk: string })[];
    await Promise.all(batch.map((put) => table.put({ put })));
  }
}

/** Refs of a table under a prefix, every one when it is empty; unsorted. */
export async function refsInTable(
  table: Table,
  repositoryId: string,
  tableId: string,
  prefix: string,
): Promise<Ref[]> {
  const partition = refTablePartition(repositoryId, tableId);
  const from = refPrefixSort(prefix);
  const [before, within] = await Promise.all([
    prefix === '' ? [] : chunkAt(table, partition, from),
    collect(table.queryAll({ partition, from, to: `${from}\u{10ffff}` })),
  ]);
  const rows = new Map([...before, ...within].map((row) => [row['sk'] as string, row]));
  return [...rows.values()].flatMap(refsOf).filter((ref) => ref.name.startsWith(prefix));
}

/** @returns the ref of that name in the table, if it has one. */
export async function refInTable(
  table: Table,
  repositoryId: string,
  tableId: string,
  name: RefName,
): Promise<Ref | undefined> {
  const rows = await chunkAt(table, refTablePartition(repositoryId, tableId), refSort(name));
  return rows.flatMap(refsOf).find((ref) => ref.name === name);
}

/** The row in whose run this key falls. */
async function chunkAt(table: Table, partition: string, to: string): Promise<readonly Item[]> {
  return (await table.query({ partition, to, reverse: true, limit: 1 })).items;
}

function refsOf(row: Item): Ref[] {
  return (row['refs'] as string).split('\n').map((line) => {
    const space = line.indexOf(' ');
    const [oid, peeled] = line.slice(0, space).split('^') as [Oid, Oid?];
    const name = line.slice(space + 1) as RefName;
    return peeled === undefined ? { name, oid } : { name, oid, peeled };
  });
}

async function collect(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
