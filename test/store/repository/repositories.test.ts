/** The rows of a repository that maintenance writes: lease, packs, state and ref tables. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { PackDescription, PackSource } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { Missing, Stale } from '../../../lib/store/errors.ts';
import { listDerived } from '../../../lib/store/repository/derived-files.ts';
import { closeRepository, newRepository } from '../../../lib/store/repository/state.ts';
import {
  derivedKey,
  packKey,
  REF_TABLES,
  repositoryPartition,
} from '../../../lib/store/row-keys/repository.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

let repositories = 0;
async function fresh(): Promise<string> {
  const id = `upkeep-${++repositories}`;
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  return id;
}
const pack = (id: string): PackDescription => ({
  id,
  source: 'receive',
  objectCount: 3,
  packSize: 100,
  indexSize: 1100,
  layout: 'joined',
  location: `networks/1/packs/${id}`,
});
const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const create = (name: string, n = 1) => ({
  name: `refs/heads/${name}` as RefName,
  from: ZERO_OID,
  to: oid(n),
});
const active = async (id: string) => (await opened.store.repositories.open(id).listPacks()).map((p) => p.id);

describe('the lease', () => {
  test('has one holder at a time, expires, and its number only increases', async () => {
    const id = await fresh();
    const { leases } = opened.store;
    const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000);
    const racers = await Promise.all(Array.from({ length: 6 }, () => leases.acquire(id, 60, at(0))));
    const first = racers.filter((lease) => lease !== undefined);
    expect(first).toHaveLength(1);
    expect(await leases.acquire(id, 60, at(59))).toBeUndefined();
    const second = await leases.acquire(id, 60, at(60));
    expect(second!.fence).toBeGreaterThan(first[0]!.fence);
    await leases.release(first[0]!);
    expect(await leases.acquire(id, 60, at(61))).toBeUndefined();
    await leases.release(second!);
    expect((await leases.acquire(id, 60, at(61)))!.fence).toBeGreaterThan(second!.fence);
  });
});

test('pack rows keep their stored spelling of sources, and older rows are readable', async () => {
  const id = await fresh();
  const { table, repositories } = opened.store;
  const sources: Readonly<Record<PackSource, string>> = {
    receive: 'push',
    insert: 'api',
    compact: 'compaction',
    gc: 'collection',
    'unreachable-garbage': 'garbage',
  };
  const packs = Object.keys(sources).map((source) => ({
    ...pack(source.toUpperCase()),
    source: source as PackSource,
  }));
  await repositories.open(id).compareAndSwap([create('main')], { packs });
  await table.put({ put: { ...packKey(id, 'OLD'), ...pack('OLD'), source: 'collection', state: 'active' } });
  await table.put({ put: { ...derivedKey(id, 'tip'), kind: 'tip', sums: 7, madeFrom: { note: 'x' } } });
  const rows = await Promise.all(packs.map((listed) => table.get(packKey(id, listed.id))));
  expect(rows.map((row) => row!['source'])).toEqual(Object.values(sources));
  const listing = await repositories.open(id).listing();
  expect(Object.fromEntries(listing.packs.map((listed) => [listed.id, listed.source]))).toEqual({
    ...Object.fromEntries(packs.map((listed) => [listed.id, listed.source])),
    OLD: 'gc',
  });
  expect(listing.derived).toMatchObject([{ checksumsCrc: 7, provenance: { note: 'x' } }]);
  const relisted = listDerived(id, { ...listing.derived[0]!, id: 'next' }, undefined, new Date());
  expect(relisted.put).toMatchObject({ id: 'next', sums: 7, madeFrom: { note: 'x' } });
});

describe('packs', () => {
  test('are replaced under the lease, all or none, and only superseded ones are deleted', async () => {
    const id = await fresh();
    const { repositories, leases } = opened.store;
    const now = new Date();
    await repositories.open(id).compareAndSwap([create('main')], { packs: [pack('01A'), pack('01B')] });
    const old = (await leases.acquire(id, 0))!;
    const lease = (await leases.acquire(id, 60))!;
    await expect(repositories.replacePacks(old, [pack('01X')], [pack('01A')])).rejects.toBeInstanceOf(Stale);
    await expect(
      repositories.replacePacks(lease, [pack('01X')], [pack('01A'), pack('01Q')]),
    ).rejects.toBeInstanceOf(Stale);
    expect(await active(id)).toEqual(['01B', '01A']);
    await repositories.replacePacks(lease, [pack('01C')], [pack('01A'), pack('01B')], now);
    expect(await active(id)).toEqual(['01C']);
    const all = await repositories.open(id).catalogue();
    expect(all.map((p) => [p.id, p.state])).toEqual([
      ['01C', 'active'],
      ['01A', 'superseded'],
      ['01B', 'superseded'],
    ]);
    await expect(repositories.replacePacks(lease, [pack('01D')], [pack('01A')])).rejects.toBeInstanceOf(
      Stale,
    );
    await expect(repositories.removePackRow(id, all[0]!)).rejects.toThrow('in use');
    expect(await repositories.superseded(id, { until: new Date(now.getTime() - 1) })).toEqual([]);
    const [first] = await repositories.superseded(id, { until: now, most: 1 });
    expect(first).toEqual({ ...pack('01A'), state: 'superseded', supersededAt: now.toISOString() });
    await repositories.removePackRow(id, first!);
    await repositories.removePackRow(id, first!);
    expect((await repositories.open(id).catalogue()).map((p) => p.id)).toEqual(['01C', '01B']);
  });
});

describe('the state of a repository', () => {
  test('changes for all writers at once, and deleted is final', async () => {
    const id = await fresh();
    const { repositories, table } = opened.store;
    await repositories.setState(id, 'read-only');
    await expect(repositories.open(id).compareAndSwap([create('x')])).rejects.toThrow('read-only');
    await repositories.setState(id, 'open');
    expect(await Promise.all([1, 2, 3].map(() => repositories.raiseEpoch(id)))).toHaveLength(3);
    expect(await repositories.guard(id)).toMatchObject({ state: 'open', epoch: 3 });
    await table.transact(closeRepository(id));
    await expect(repositories.setState(id, 'open')).rejects.toBeInstanceOf(Missing);
    await expect(repositories.raiseEpoch(id)).rejects.toBeInstanceOf(Missing);
  });
});

describe('maintenance', () => {
  test('folds ref rows into a table and sweeps, leaving few rows and the same refs', async () => {
    const id = await fresh();
    const { repositories, table } = opened.store;
    for (let k = 0; k < 3; k++)
      await repositories.open(id).compareAndSwap(Array.from({ length: 60 }, (_, i) => create(`b${k}/${i}`)));
    const before = await repositories.open(id).all();
    expect(await repositories.countRefRows(id, 1000)).toBe(180);
    await repositories.open(id).foldRefs();
    await repositories
      .open(id)
      .compareAndSwap([{ name: 'refs/heads/b0/0' as RefName, from: oid(1), to: oid(2) }]);
    await repositories.open(id).foldRefs();
    await repositories
      .open(id)
      .compareAndSwap([{ name: 'refs/heads/b0/0' as RefName, from: oid(2), to: oid(1) }]);
    await repositories.sweepRefs(id);
    expect(await repositories.countRefRows(id, 1000)).toBe(1);
    expect(await repositories.open(id).all()).toEqual(before);
    const tables = () => table.query({ partition: repositoryPartition(id), prefix: REF_TABLES });
    expect((await tables()).items).toHaveLength(2);
    await repositories.sweepRefs(id, new Date(Date.now() + 7200_000));
    const { items } = await tables();
    expect(items.map((row) => (row['sk'] as string).slice(REF_TABLES.length))).toEqual([
      (await repositories.guard(id)).refTable,
    ]);
    expect(await repositories.open(id).all()).toEqual(before);
  });
});
