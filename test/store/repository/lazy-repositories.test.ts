/** Repositories of wikis and snippets: none of their rows exists before the first write. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { type PackDescription, RefConflict } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { ownerOfRepository, repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import { Missing, TransactionRefused } from '../../../lib/store/errors.ts';
import { repositoryPartition } from '../../../lib/store/row-keys/repository.ts';
import { ABSENT } from '../../../lib/store/table/write.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

let owners = 0;
const fresh = () => ({ kind: 'snippet', id: ++owners }) as const;
const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const create = (name: string, n = 1) => ({
  name: `refs/heads/${name}` as RefName,
  from: ZERO_OID,
  to: oid(n),
  committed: n,
});
const pack = (id: string): PackDescription => ({
  id,
  source: 'insert',
  objectCount: 3,
  packSize: 100,
  indexSize: 1100,
  layout: 'joined',
  location: `networks/x/packs/x/${id}`,
});
const first = { headBranch: 'main' };
const rowsOf = async (id: string) =>
  (await opened.store.table.query({ partition: repositoryPartition(id) })).items;

test('the id of a repository tells its owner, and an id of code tells none', () => {
  for (const owner of [fresh(), { kind: 'project-wiki', id: 7 }, { kind: 'group-wiki', id: 8 }] as const)
    expect(ownerOfRepository(repositoryIdOf(owner))).toEqual(owner);
  for (const id of ['01KAS3D9F6M1Q2X6A1ZC6ZT1QG', 'snippet-0', 'snippet-01', 'snippet-1 ', 'wiki-1'])
    expect(ownerOfRepository(id)).toBeUndefined();
});

test('the first write makes refs, HEAD, packs and what comes with them at once', async () => {
  const id = repositoryIdOf(fresh());
  const { repositories, table } = opened.store;
  const refs = repositories.open(id);
  await expect(refs.all()).rejects.toThrow(Missing);
  const key = { pk: `TEST#${id}`, sk: 'BESIDE' };
  const options = {
    packs: [pack('P1')],
    head: 'refs/heads/trunk' as RefName,
    alongside: [{ put: { ...key, done: true } }],
  };
  expect(await refs.begin([create('trunk', 1), create('other/one', 2)], options, first)).toBe(true);
  expect(await repositories.open(id).all()).toEqual({
    head: 'refs/heads/trunk',
    refs: [
      { name: 'refs/heads/other/one', oid: oid(2), committed: 2 },
      { name: 'refs/heads/trunk', oid: oid(1), committed: 1 },
    ],
  });
  expect(await repositories.open(id).page({ space: 'heads', limit: 1 })).toMatchObject({ total: 2 });
  expect((await repositories.open(id).listPacks()).map((each) => each.id)).toEqual(['P1']);
  expect(await table.get(key)).toMatchObject({ done: true });
  // And it is a repository as any other then.
  await repositories.open(id).compareAndSwap([{ ...create('trunk', 3), from: oid(1) }, create('more', 4)]);
  expect((await repositories.open(id).all()).refs).toHaveLength(3);
});

test('of two first writes one is told to try again as a later one', async () => {
  const id = repositoryIdOf(fresh());
  const { repositories } = opened.store;
  const answers = await Promise.all(
    [1, 2, 3].map((n) => repositories.open(id).begin([create(`branch-${n}`, n)], {}, first)),
  );
  expect(answers.filter(Boolean)).toHaveLength(1);
  expect((await repositories.open(id).all()).refs).toHaveLength(1);
});

test('a first write that cannot be is refused, and leaves nothing', async () => {
  const id = repositoryIdOf(fresh());
  const refs = opened.store.repositories.open(id);
  const stale = { name: 'refs/heads/main' as RefName, from: oid(1), to: oid(2) };
  await expect(refs.begin([stale], {}, first)).rejects.toThrow(RefConflict);
  await expect(refs.begin([create('a'), create('a/b')], {}, first)).rejects.toThrow(RefConflict);
  const owner = {
    check: { pk: 'TEST#nobody', sk: 'OWNER' },
    if: 'attribute_exists(#pk)',
    reason: 'owner',
  };
  await expect(refs.begin([create('main')], {}, { ...first, owner })).rejects.toThrow(TransactionRefused);
  const taken = { put: { pk: `TEST#${id}`, sk: 'TAKEN' }, if: ABSENT, reason: 'taken' };
  await opened.store.table.put({ put: taken.put });
  await expect(refs.begin([create('main')], { alongside: [taken] }, first)).rejects.toThrow(
    TransactionRefused,
  );
  expect(await rowsOf(id)).toEqual([]);
});

test('more refs than a transaction holds are written after an empty repository was made', async () => {
  const id = repositoryIdOf(fresh());
  const { repositories } = opened.store;
  const updates = Array.from({ length: 120 }, (_, n) => create(`branch-${n}`, n + 1));
  expect(await repositories.open(id).begin(updates, {}, first)).toBe(false);
  expect((await repositories.open(id).all()).refs).toEqual([]);
  await repositories.open(id).compareAndSwap(updates);
  expect((await repositories.open(id).all()).refs).toHaveLength(120);
});
