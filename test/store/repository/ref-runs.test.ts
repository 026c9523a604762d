import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Oid } from '../../../lib/git/oid.ts';
import { ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { type RefRun, RefRunCache } from '../../../lib/store/repository/ref-runs.ts';
import { writeRefTable } from '../../../lib/store/repository/ref-table-writer.ts';
import { changeGuards, newRepository } from '../../../lib/store/repository/state.ts';
import { refNamesKey, refTablePartition } from '../../../lib/store/row-keys/repository.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const branch = (n: number) => `refs/heads/branch-${n.toString().padStart(5, '0')}` as RefName;
const refsOf = (count: number, value: number) => [
  ...Array.from({ length: count }, (_, n) => ({ name: branch(n), oid: oid(value + n), committed: n })),
  ...Array.from({ length: count }, (_, n) => ({
    name: `refs/tags/t-${n + 100_000}` as RefName,
    oid: oid(value),
  })),
];

async function replaceTable(id: string, tableId: string, count: number, value: number): Promise<void> {
  const counts = await writeRefTable(opened.store.table, id, tableId, [refsOf(count, value)]);
  await opened.store.table.transact([
    ...changeGuards(id, { refTable: tableId }),
    { update: refNamesKey(id), set: { ...counts } },
  ]);
}

/** Requests for rows of a ref table while `work` runs. */
async function tableReads<T>(id: string, tableId: string, work: () => Promise<T>): Promise<[T, number]> {
  const { table } = opened.store;
  const { query } = table;
  let reads = 0;
  table.query = (request) => {
    if (request.partition === refTablePartition(id, tableId)) reads++;
    return query.call(table, request);
  };
  try {
    return [await work(), reads];
  } finally {
    table.query = query;
  }
}

const open = (id: string) => opened.store.repositories.open(id);
const all = async (id: string, prefix?: string) =>
  (await open(id).all(prefix === undefined ? {} : { prefix })).refs;

test('a ref table is read once by a process, for lists, prefixes and names', async () => {
  const id = 'read-once';
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  await replaceTable(id, 'first', 3000, 1);
  const [cold, coldReads] = await tableReads(id, 'first', () => all(id));
  expect([cold.length, coldReads > 0]).toEqual([6000, true]);
  for (const read of [
    () => all(id),
    async () => (await all(id, 'refs/heads/')).concat(await all(id, 'refs/tags/')),
  ]) {
    expect(await tableReads(id, 'first', read)).toEqual([cold, 0]);
  }
  const names = [branch(0), branch(1234), branch(9999), 'refs/heads/a' as RefName, 'refs/zzz/z' as RefName];
  const [named, reads] = await tableReads(id, 'first', () => open(id).get(names));
  expect([[...named.keys()], reads]).toEqual([[branch(0), branch(1234)], 0]);
});

test('changes by rows and a new ref table are seen although the former one is in memory', async () => {
  const id = 'replaced';
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  await replaceTable(id, 'one', 2000, 1);
  await all(id);
  await open(id).compareAndSwap([
    { name: branch(7), from: oid(8), to: ZERO_OID },
    { name: branch(8), from: oid(9), to: oid(5) },
  ]);
  const changed = await all(id, 'refs/heads/');
  expect([changed.length, changed.find(({ name }) => name === branch(8))?.oid]).toEqual([1999, oid(5)]);
  await replaceTable(id, 'two', 1000, 50);
  const replaced = await all(id, 'refs/heads/');
  expect(replaced.map(({ name }) => name)).toEqual(Array.from({ length: 1000 }, (_, n) => branch(n)));
  expect(replaced[500]!.oid).toBe(oid(550));
});

test('a part of a table that is in memory is continued by what is read', async () => {
  const id = 'in-part';
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  await replaceTable(id, 'part', 4000, 1);
  for (const n of [0, 1500, 3999])
    expect((await open(id).get([branch(n)])).get(branch(n))?.oid).toBe(oid(n + 1));
  for (const n of [0, 1500, 3990]) {
    const page = await open(id).page({ space: 'heads', after: branch(n), limit: 700 });
    const expected = refsOf(4000, 1).slice(n + 1, Math.min(4000, n + 701));
    expect(page.refs).toEqual(expected);
  }
  expect(await all(id)).toEqual(refsOf(4000, 1));
});

describe('the memory for runs', () => {
  const run = (sort: string, next: string | undefined, bytes: number): RefRun => ({
    sort,
    refs: [],
    next,
    bytes,
  });

  test('is bounded in bytes: the table used longest ago goes first', () => {
    const cache = new RefRunCache(100);
    for (const table of ['a', 'b', 'c']) cache.add(table, run('r', undefined, 40));
    expect(cache.bytes).toBe(80);
    expect(['a', 'b', 'c'].map((table) => cache.of(table).get('r') !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('is filled by one table up to half, with the runs read first', () => {
    const cache = new RefRunCache(100);
    for (const n of [1, 2, 3, 4]) cache.add('large', run(`r${n}`, `r${n + 1}`, 20));
    expect([1, 2, 3, 4].map((n) => cache.of('large').get(`r${n}`)?.sort)).toEqual([
      'r1',
      'r2',
      undefined,
      undefined,
    ]);
    expect(cache.bytes).toBe(40);
  });

  test('finds the run that includes a key, and none where there is a gap', () => {
    const runs = new RefRunCache().of('t');
    runs.add(run('m', undefined, 1));
    runs.add(run('c', 'f', 1));
    const found = ['a', 'c', 'd', 'f', 'g', 'm', 'z'].map((sort) => runs.at(sort)?.sort);
    expect(found).toEqual([undefined, 'c', 'c', undefined, undefined, 'm', 'm']);
  });
});
