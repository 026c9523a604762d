import type { Fault } from '@lemnos/embedded-aws/dynamodb';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { type PackDescription, RefConflict, type RefUpdate } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { Missing, StoreUnavailable, TransactionRefused } from '../../../lib/store/errors.ts';
import { message } from '../../../lib/store/outbox/outbox.ts';
import type { RepositoryRefs } from '../../../lib/store/repository/refs-and-objects.ts';
import { changeGuards, newRepository } from '../../../lib/store/repository/state.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { GUARD_STRIPES, guardKey, refNamesKey } from '../../../lib/store/row-keys/repository.ts';
import { readingOnce } from '../../../lib/store/table/read-once.ts';
import { compareText } from '../../../lib/store/table/text-order.ts';
import { measured, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterEach(() => opened.dynamo.faults.clear());
afterAll(() => opened.close());

let repositories = 0;
async function fresh(): Promise<string> {
  const id = `repository-${++repositories}`;
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  return id;
}
const open = (id: string): RepositoryRefs => opened.store.repositories.open(id);
const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const ref = (name: string) => (name.startsWith('refs/') ? name : `refs/heads/${name}`) as RefName;
const create = (name: string, n: number): RefUpdate => ({ name: ref(name), from: ZERO_OID, to: oid(n) });
const move = (name: string, a: number, b: number): RefUpdate => ({
  name: ref(name),
  from: oid(a),
  to: oid(b),
});
const drop = (name: string, n: number): RefUpdate => ({ name: ref(name), from: oid(n), to: ZERO_OID });
const pack = (id: string): PackDescription => ({
  id,
  source: 'receive',
  objectCount: 3,
  packSize: 100,
  indexSize: 1100,
  layout: 'joined',
  location: `networks/1/packs/${id}`,
});
const refsOf = async (id: string) =>
  Object.fromEntries(
    (await open(id).all()).refs.map((r) => [r.name.replace('refs/heads/', ''), Number(`0x${r.oid}`)]),
  );
const rejections = async (swap: Promise<void>) => {
  const error = await swap.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(RefConflict);
  return (error as RefConflict).rejections.map(({ name, reason }) => [
    name?.replace('refs/heads/', ''),
    reason,
  ]);
};

test('what branches of several repositories point to is read in one request, and from ref tables as from rows', async () => {
  const ids = [await fresh(), await fresh(), await fresh()];
  const [rows, folded, amended] = ids as [string, string, string];
  for (const id of ids)
    await open(id).compareAndSwap([create('main', 1), create('old', 2), create('gone', 3)]);
  await open(folded).foldRefs();
  await open(amended).foldRefs();
  await open(amended).compareAndSwap([move('main', 1, 4), drop('gone', 3)]);
  const names = ['main', 'old', 'gone', 'none'].map(ref);
  const tipsOf = async (...of: readonly string[]) => {
    const tips = await opened.store.repositories.tips(of.map((repositoryId) => ({ repositoryId, names })));
    const numbers = (found: ReadonlyMap<RefName, Oid>) =>
      Object.fromEntries([...found].map(([name, to]) => [name, Number(`0x${to}`)]));
    return Object.fromEntries([...tips].map(([id, found]) => [id, numbers(found)]));
  };
  const asCreated = { [ref('main')]: 1, [ref('old')]: 2, [ref('gone')]: 3 };
  expect(await tipsOf(rows, folded, amended, 'unknown')).toEqual({
    [rows]: asCreated,
    [folded]: asCreated,
    [amended]: { [ref('main')]: 4, [ref('old')]: 2 },
  });
  const other = await fresh();
  await open(other).compareAndSwap([create('main', 5)]);
  expect((await measured(opened, () => tipsOf(rows, other))).requests).toBe(1);
});

test('a repository that is deleted while its branches are read is left out of them', async () => {
  const [stays, goes] = [await fresh(), await fresh()];
  for (const id of [stays, goes]) await open(id).compareAndSwap([create('main', 1)]);
  await open(goes).foldRefs();
  const { table, repositories } = opened.store;
  // The guard is read again beside the ref table.
  const again = vi.spyOn(table, 'get').mockImplementationOnce(async () => {
    for (let stripe = 0; stripe < GUARD_STRIPES; stripe++)
      await table.delete({ delete: guardKey(goes, stripe) });
    return undefined;
  });
  const names = [ref('main')];
  const tips = await repositories.tips([stays, goes].map((repositoryId) => ({ repositoryId, names })));
  again.mockRestore();
  expect([...tips]).toEqual([[stays, new Map([[ref('main'), oid(1)]])]]);
});

describe('compare-and-swap', () => {
  test('creates, moves and deletes refs, lists packs and sets HEAD in one step', async () => {
    const id = await fresh();
    const tag = { name: ref('refs/tags/v1'), from: ZERO_OID, to: oid(7), peeled: oid(1) };
    await open(id).compareAndSwap([create('main', 1), create('gone', 2), tag], {
      packs: [pack('01A'), pack('01B')],
      head: ref('main'),
    });
    await open(id).compareAndSwap([move('main', 1, 3), drop('gone', 2), create('new', 4)], {
      packs: [pack('01C')],
      head: ref('new'),
    });
    expect(await open(id).all()).toEqual({
      head: 'refs/heads/new',
      refs: [
        { name: 'refs/heads/main', oid: oid(3) },
        { name: 'refs/heads/new', oid: oid(4) },
        { name: 'refs/tags/v1', oid: oid(7), peeled: oid(1) },
      ],
    });
    expect((await open(id).listPacks()).map((p) => p.id)).toEqual(['01C', '01B', '01A']);
    expect((await open(id).listPacks())[2]).toEqual({ ...pack('01A'), state: 'active' });
    expect(await open(id).get([ref('main'), ref('gone')])).toEqual(
      new Map([[ref('main'), { name: ref('main'), oid: oid(3) }]]),
    );
    expect((await open(id).all({ prefix: 'refs/tags/' })).refs.map((r) => r.name)).toEqual(['refs/tags/v1']);
    expect(await open(id).head()).toBe('refs/heads/new');
  });

  test('that is refused gives a reason per ref, and changes nothing', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('a', 1), create('dir/x', 1)]);
    const updates = [move('a', 2, 3), create('dir/x', 2), move('none', 1, 2), create('fine', 1)];
    expect(await rejections(open(id).compareAndSwap(updates, { packs: [pack('01X')] }))).toEqual([
      ['a', 'stale'],
      ['dir/x', 'exists'],
      ['none', 'stale'],
    ]);
    expect(await refsOf(id)).toEqual({ a: 1, 'dir/x': 1 });
    expect(await open(id).listPacks()).toEqual([]);
    await expect(open(id).compareAndSwap([move('a', 1, 2), drop('a', 1)])).rejects.toBeInstanceOf(RangeError);
  });

  test.each([
    ['a name below an existing ref', ['a'], [create('a/b', 1)], [['a/b', 'prefix-conflict']]],
    ['a name far below an existing ref', ['a'], [create('a/b/c/d', 1)], [['a/b/c/d', 'prefix-conflict']]],
    ['a name above an existing ref', ['a/b/c'], [create('a', 1)], [['a', 'prefix-conflict']]],
    [
      'two new names',
      [],
      [create('x', 1), create('x/y', 1)],
      [
        ['x', 'prefix-conflict'],
        ['x/y', 'prefix-conflict'],
      ],
    ],
    [
      'one of many new names',
      ['a'],
      [...Array.from({ length: 12 }, (_, i) => create(`n${i}`, 1)), create('a/b', 1)],
      [['a/b', 'prefix-conflict']],
    ],
  ] as const)('refuses names that exclude each other: %s', async (_, existing, updates, expected) => {
    const id = await fresh();
    if (existing.length > 0) await open(id).compareAndSwap(existing.map((name) => create(name, 1)));
    expect(await rejections(open(id).compareAndSwap(updates))).toEqual(expected);
    expect(Object.keys(await refsOf(id))).toEqual([...existing]);
  });

  test('accepts similar names that do not conflict, and names freed by a deletion in the same push', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('a', 1), create('b/c', 1)]);
    await open(id).compareAndSwap([create('ab', 1), create('a.b/c', 1), create('b-', 1)]);
    await open(id).compareAndSwap([drop('a', 1), create('a/b', 2), drop('b/c', 1), create('b', 2)]);
    expect(await refsOf(id)).toEqual({ ab: 1, 'a.b/c': 1, 'b-': 1, 'a/b': 2, b: 2 });
  });

  test('distinguishes names of the maximum length and finds them by prefix', async () => {
    const id = await fresh();
    const long = 'é'.repeat(500);
    const names = [`${long}/x`, `${long}/y`, `${long}z`].map((n) => ref(n));
    await open(id).compareAndSwap(names.map((name, i) => ({ name, from: ZERO_OID, to: oid(i + 1) })));
    expect((await open(id).all()).refs.map((r) => r.name)).toEqual(names.toSorted(compareText));
    expect((await open(id).get(names)).size).toBe(3);
    expect((await open(id).all({ prefix: `refs/heads/${long}/` })).refs).toHaveLength(2);
    expect(await rejections(open(id).compareAndSwap([create(long, 9)]))).toEqual([[long, 'prefix-conflict']]);
  });

  test('with an update that changes nothing only checks the value', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    await open(id).compareAndSwap([move('main', 1, 1)], { packs: [pack('01V')] });
    expect(await rejections(open(id).compareAndSwap([move('main', 2, 2)]))).toEqual([['main', 'stale']]);
    expect(await refsOf(id)).toEqual({ main: 1 });
  });

  test('includes the writes of its caller in its transaction, and reports when one of them is refused', async () => {
    const id = await fresh();
    const key = projectKey(4711);
    const alongside = (is: number) => [
      {
        update: key,
        add: { pushes: 1 },
        if: 'attribute_not_exists(#pushes) OR #pushes = :is',
        values: { is },
        reason: 'project',
      },
    ];
    const row = message('maintenance', 'repository.pushed', { id });
    await open(id).compareAndSwap([create('main', 1)], { alongside: alongside(0), messages: [row] });
    expect(await opened.store.table.get(key)).toMatchObject({ pushes: 1 });
    const refused = open(id).compareAndSwap([move('main', 1, 2)], { alongside: alongside(7) });
    await expect(refused).rejects.toBeInstanceOf(TransactionRefused);
    expect(await refsOf(id)).toEqual({ main: 1 });
  });

  test('costs one round trip to read and one to write, and none to read again what was just read', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    const cold = await measured(opened, () => open(id).compareAndSwap([move('main', 1, 2)]));
    expect(cold.requests).toBe(2);
    const repository = open(id);
    await repository.get([ref('main')]);
    const warm = await measured(opened, () => repository.compareAndSwap([move('main', 2, 3)]));
    expect(warm.requests).toBe(1);
  });

  /** How often rows of a kind are read. */
  const readsOf = (kind: string) =>
    opened.operations.flatMap(({ keys }) => keys).filter((key) => key.includes(`/${kind}`)).length;

  test('what is asked for at once reads the guard once', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    const repository = opened.store.repositories.open(id, ref('main'));
    opened.reset();
    const [packs, { head }] = await Promise.all([repository.listPacks(), repository.headRef()]);
    expect([packs, head?.oid]).toEqual([[], oid(1)]);
    expect(readsOf('GUARD')).toBe(1);
    const alone = open(id);
    opened.reset();
    await alone.listPacks();
    await alone.get([ref('main')]);
    expect(readsOf('GUARD')).toBe(2);
  });

  test('a deleted repository is missing for all that share the read of its guard', async () => {
    const id = await fresh();
    await opened.store.table.transact(changeGuards(id, { state: 'deleted' }));
    const repository = open(id);
    const asked = [
      repository.get([ref('main')]),
      repository.listPacks(),
      repository.page({ space: 'heads', limit: 1 }),
    ];
    const [, packs, page] = await Promise.allSettled(asked);
    for (const each of [packs, page]) expect(each).toMatchObject({ reason: expect.any(Missing) });
  });

  test('a request that changes nothing does not read the version of the names, until it creates one after all', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    await readingOnce(async () => {
      const repository = open(id);
      opened.reset();
      await repository.get([ref('main')]);
      expect(readsOf('REFNAMES')).toBe(0);
      await repository.compareAndSwap([create('topic', 2)]);
    });
    expect(await refsOf(id)).toEqual({ main: 1, topic: 2 });
    await expect(
      readingOnce(async () => {
        const repository = open(id);
        await repository.get([ref('main')]);
        return rejections(repository.compareAndSwap([create('topic/below', 3)]));
      }),
    ).resolves.toEqual([['topic/below', 'prefix-conflict']]);
  });

  test('relies on earlier reads only where the transaction confirms them', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    const slow = open(id);
    await slow.get([ref('main')]);
    await open(id).compareAndSwap([move('main', 1, 2)]);
    expect(await rejections(slow.compareAndSwap([move('main', 1, 3)]))).toEqual([['main', 'stale']]);
    await slow.compareAndSwap([move('main', 2, 3)]);
    expect(await refsOf(id)).toEqual({ main: 3 });
  });
});

describe('the state of the repository', () => {
  test.each([
    ['deleted', 'deleted'],
    ['read-only', 'read-only'],
  ] as const)('%s: writers are refused', async (state, reason) => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    const writer = open(id);
    await writer.get([ref('main')]);
    await opened.store.table.transact(changeGuards(id, { state }));
    expect(await rejections(writer.compareAndSwap([move('main', 1, 2)]))).toEqual([[undefined, reason]]);
    expect(await rejections(open(id).compareAndSwap([create('x', 1)]))).toEqual([[undefined, reason]]);
  });

  test('a collection that began after the snapshot of a writer is reported once', async () => {
    const id = await fresh();
    const writer = open(id);
    await writer.listPacks();
    await opened.store.table.transact(changeGuards(id, { epoch: 1 }));
    expect(await rejections(writer.compareAndSwap([create('main', 1)]))).toEqual([[undefined, 'collected']]);
    await writer.compareAndSwap([create('main', 1)]);
    expect(await refsOf(id)).toEqual({ main: 1 });
  });

  test('a pack removed from the list after it was read together with the epoch counts as a collection', async () => {
    const id = await fresh();
    const { repositories, leases } = opened.store;
    await open(id).compareAndSwap([create('main', 1)], { packs: [pack('01A'), pack('01B')] });
    const lease = (await leases.acquire(id, 60))!;
    for (const updates of [[move('main', 1, 2)], [create('new', 2)]]) {
      const [replaced] = await open(id).listPacks();
      const writer = open(id);
      await Promise.all([writer.listPacks(), writer.get([ref('main')])]);
      await repositories.replacePacks(lease, [pack(`${replaced!.id}X`)], [replaced!]);
      expect(await rejections(writer.compareAndSwap(updates))).toEqual([[undefined, 'collected']]);
      await writer.listPacks();
      await writer.compareAndSwap(updates);
    }
    // A list read after the epoch is no older than the epoch, so a pack removed later does not matter.
    const writer = open(id);
    await writer.get([ref('main')]);
    const [replaced] = await writer.listPacks();
    await repositories.replacePacks(lease, [pack('01Z')], [replaced!]);
    await writer.compareAndSwap([move('main', 2, 3)]);
    expect(await refsOf(id)).toEqual({ main: 3, new: 2 });
  });

  test('a writer with an old snapshot is refused for new names that conflict, and for no others', async () => {
    const id = await fresh();
    const writer = open(id);
    await writer.get([ref('a')]);
    await open(id).compareAndSwap([create('a/b', 1)]);
    expect(await rejections(writer.compareAndSwap([create('a', 1)]))).toEqual([['a', 'prefix-conflict']]);
    await writer.get([ref('c')]);
    await open(id).compareAndSwap([create('b', 1)]);
    await writer.compareAndSwap([create('c', 1)]);
    expect(await refsOf(id)).toEqual({ 'a/b': 1, b: 1, c: 1 });
  });

  test('HEAD and its branch are read correctly whatever branch the reader expected', async () => {
    const id = await fresh();
    const guesses = [undefined, ref('main'), ref('other')];
    const heads = () =>
      Promise.all(guesses.map((guess) => opened.store.repositories.open(id, guess).headRef()));
    expect(await heads()).toEqual(guesses.map(() => ({ target: ref('main'), head: undefined })));
    await open(id).compareAndSwap([create('main', 1), create('other', 2)]);
    const head = { name: ref('main'), oid: oid(1) };
    expect(await heads()).toEqual(guesses.map(() => ({ target: ref('main'), head })));
  });

  test('a repository that does not exist is reported as missing', async () => {
    await expect(open('nowhere').all()).rejects.toBeInstanceOf(Missing);
    await expect(open('nowhere').listPacks()).rejects.toBeInstanceOf(Missing);
    await expect(open('nowhere').compareAndSwap([create('a', 1)])).rejects.toBeInstanceOf(Missing);
  });
});

describe('concurrent writers', () => {
  test('fifty writers of one ref: each value follows the previous one, and every refused writer gets an error', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => open(id).compareAndSwap([move('main', 1, 100 + i)])),
    );
    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
    const winner = outcomes.findIndex((o) => o.status === 'fulfilled');
    expect(await refsOf(id)).toEqual({ main: 100 + winner });
    for (const lost of outcomes.filter((o) => o.status === 'rejected'))
      expect(lost.reason).toBeInstanceOf(RefConflict);
  });

  test('fifty writers of fifty refs all succeed', async () => {
    const id = await fresh();
    await open(id).compareAndSwap(Array.from({ length: 50 }, (_, i) => create(`b${i}`, 1)));
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => open(id).compareAndSwap([move(`b${i}`, 1, i + 2)])),
    );
    expect(Object.values(await refsOf(id)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, i) => i + 2),
    );
  });

  test('names that exclude each other are never both created', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await fresh();
      const names = ['a', 'a/b', 'a/b/c', 'a/d'];
      const outcomes = await Promise.allSettled(
        names.map((name) => open(id).compareAndSwap([create(name, 1)])),
      );
      const held = Object.keys(await refsOf(id));
      expect(held.toSorted()).toEqual(names.filter((_, i) => outcomes[i]!.status === 'fulfilled').toSorted());
      expect(held.some((x) => held.some((y) => y.startsWith(`${x}/`)))).toBe(false);
      expect(held.length).toBeGreaterThan(0);
    }
  });

  test('twenty writers that create different branches all succeed', async () => {
    const id = await fresh();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => open(id).compareAndSwap([create(`topic/${i}`, i + 1)])),
    );
    expect(Object.keys(await refsOf(id))).toHaveLength(20);
  });

  test('a push of several refs is never visible in part', async () => {
    const id = await fresh();
    const names = Array.from({ length: 30 }, (_, i) => `r${i}`);
    await open(id).compareAndSwap(names.map((name) => create(name, 1)));
    let reads = 0;
    const writer = (async () => {
      // As long as it takes to be read in the midst of it.
      for (let n = 1; n < 15 || reads < 4; n++)
        await open(id).compareAndSwap(names.map((name) => move(name, n, n + 1)));
    })();
    const written = writer.then(() => true);
    while (!(await Promise.race([written, false]))) {
      expect(new Set(Object.values(await refsOf(id))).size).toBe(1);
      reads++;
    }
    await writer;
  });
});

describe('faults at every call of a push', () => {
  const faults = [
    { fail: 'internal-error' },
    { fail: 'throttling' },
    { fail: 'unreachable' },
    { fail: 'transaction-conflict' },
    { loseAnswer: true },
  ] as const;
  test.each(faults.flatMap((fault) => [0, 1, 2, 3].map((call) => [fault, call] as const)))(
    '%j at call %i: done once, wholly',
    async (fault, call) => {
      const id = await fresh();
      await open(id).compareAndSwap([create('main', 1)]);
      let calls = 0;
      opened.dynamo.faults.onRequest = () => (calls++ === call ? { ...fault } : undefined);
      const marker = projectKey(9000 + repositories);
      await open(id).compareAndSwap([move('main', 1, 2), create('next', 3)], {
        packs: [pack('01P')],
        alongside: [{ update: marker, add: { n: 1 } }],
      });
      opened.dynamo.faults.clear();
      expect(calls).toBeGreaterThan(call);
      expect(await refsOf(id)).toEqual({ main: 2, next: 3 });
      expect(await open(id).listPacks()).toHaveLength(1);
      expect(await opened.store.table.get(marker)).toMatchObject({ n: 1 });
    },
  );

  test('when every response is lost, the writer recognizes its write by its own pack row', async () => {
    const id = await fresh();
    const repository = opened.impatient.repositories.open(id);
    opened.dynamo.faults.onRequest = ({ operation }) =>
      operation === 'TransactWriteItems' ? { loseAnswer: true } : undefined;
    await repository.compareAndSwap([create('main', 1)], { packs: [pack('01L')] });
    await repository.compareAndSwap([move('main', 1, 2)]);
    opened.dynamo.faults.clear();
    expect(await refsOf(id)).toEqual({ main: 2 });
  });

  test('a push that never reaches the table fails and changes nothing', async () => {
    const id = await fresh();
    opened.dynamo.faults.onRequest = ({ operation }) =>
      operation === 'TransactWriteItems' ? { fail: 'unreachable' } : undefined;
    const swap = opened.impatient.repositories
      .open(id)
      .compareAndSwap([create('main', 1)], { packs: [pack('01N')] });
    await expect(swap).rejects.toBeInstanceOf(StoreUnavailable);
    opened.dynamo.faults.clear();
    expect(await refsOf(id)).toEqual({});
    expect(await open(id).listPacks()).toEqual([]);
  });
});

describe('more refs than a transaction holds', () => {
  const many = (count: number, n: number) => Array.from({ length: count }, (_, i) => create(`m${i}`, n + i));

  test('are written as a table, become visible in one step, and can be changed like any others', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1), create('old', 2)]);
    const updates = [...many(2000, 10), move('main', 1, 5), drop('old', 2)];
    await open(id).compareAndSwap(updates, { packs: [pack('01M')], head: ref('m7') });
    const { head, refs } = await open(id).all();
    expect(head).toBe('refs/heads/m7');
    expect(refs).toHaveLength(2001);
    expect(refs.map((r) => r.name)).toEqual(refs.map((r) => r.name).toSorted(compareText));
    expect(await open(id).get([ref('main'), ref('old'), ref('m1999'), ref('m2000')])).toEqual(
      new Map([
        [ref('main'), { name: ref('main'), oid: oid(5) }],
        [ref('m1999'), { name: ref('m1999'), oid: oid(10 + 1999) }],
      ]),
    );
    expect((await open(id).all({ prefix: 'refs/heads/m199' })).refs).toHaveLength(11);
    await open(id).compareAndSwap([move('m3', 13, 14), drop('m4', 14), create('fresh', 1)]);
    expect(
      await rejections(
        open(id).compareAndSwap([move('m3', 13, 15), move('m4', 14, 1), create('m5', 1), create('m6/x', 1)]),
      ),
    ).toEqual([
      ['m3', 'stale'],
      ['m4', 'stale'],
      ['m5', 'exists'],
      ['m6/x', 'prefix-conflict'],
    ]);
    await open(id).compareAndSwap([create('m4', 77)]);
    await open(id).compareAndSwap([drop('m4', 77), create('m4/under', 78)]);
    const after = await refsOf(id);
    expect(after).toMatchObject({ m3: 14, fresh: 1, 'm4/under': 78, main: 5 });
    expect(after).not.toHaveProperty('m4');
    await open(id).foldRefs();
    expect(await refsOf(id)).toEqual(after);
    await open(id).compareAndSwap([drop('m4/under', 78), create('m4', 79), move('m3', 14, 80)]);
    expect(await refsOf(id)).toMatchObject({ m3: 80, m4: 79 });
  });

  test('keep what other writers change meanwhile', async () => {
    const id = await fresh();
    await open(id).compareAndSwap(Array.from({ length: 10 }, (_, i) => create(`b${i}`, 1)));
    const small = Array.from({ length: 10 }, async (_, i) => {
      for (let n = 1; n < 6; n++) await open(id).compareAndSwap([move(`b${i}`, n, n + 1)]);
    });
    const large = [0, 1, 2].map((k) =>
      open(id).compareAndSwap(Array.from({ length: 150 }, (_, i) => create(`p${k}-${i}`, 1))),
    );
    await Promise.all([...small, ...large]);
    const refs = await refsOf(id);
    expect(Object.keys(refs)).toHaveLength(10 + 450);
    for (let i = 0; i < 10; i++) expect(refs[`b${i}`]).toBe(6);
  });

  test.each(
    [{ fail: 'internal-error' }, { fail: 'transaction-conflict' }, { loseAnswer: true }].flatMap((fault) =>
      Array.from({ length: 9 }, (_, call) => [fault as Fault, call] as const),
    ),
  )('%j at call %i: done once, wholly', async (fault, call) => {
    const id = await fresh();
    await open(id).compareAndSwap([create('main', 1)]);
    let calls = 0;
    opened.dynamo.faults.onRequest = () => (calls++ === call ? fault : undefined);
    await open(id).compareAndSwap([...many(120, 1), move('main', 1, 2)], { packs: [pack('01T')] });
    opened.dynamo.faults.clear();
    const refs = await refsOf(id);
    expect(Object.keys(refs)).toHaveLength(121);
    expect(refs['main']).toBe(2);
    expect(await open(id).listPacks()).toHaveLength(1);
  });

  test('are refused as a whole', async () => {
    const id = await fresh();
    await open(id).compareAndSwap([create('m5', 1)]);
    expect(await rejections(open(id).compareAndSwap(many(200, 1), { packs: [pack('01R')] }))).toEqual([
      ['m5', 'exists'],
    ]);
    expect(await refsOf(id)).toEqual({ m5: 1 });
    // The repository is not left frozen.
    await open(id).compareAndSwap([create('after', 1)]);
    expect(await open(id).listPacks()).toEqual([]);
  });

  test('do not block the next writer when their own crashed', async () => {
    const id = await fresh();
    const longAgo = '01000000000000000000000000';
    await opened.store.table.transact(changeGuards(id, { frozenBy: longAgo }));
    await open(id).compareAndSwap([create('main', 1)]);
    expect(await refsOf(id)).toEqual({ main: 1 });
  });
});

test('any sequence of updates leaves the same refs as in a plain map', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'a/x', 'a/y', 'b/z/1');
  const step = fc.record({ name, to: fc.integer({ min: 0, max: 3 }), big: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const id = await fresh();
      const model = new Map<string, number>();
      for (const { name, to, big } of steps) {
        if (big) {
          await open(id).foldRefs();
          continue;
        }
        const from = model.get(name);
        if (from === undefined && to === 0) continue;
        const update = {
          name: ref(name),
          from: from === undefined ? ZERO_OID : oid(from),
          to: to === 0 ? ZERO_OID : oid(to),
        };
        const others = [...model.keys()];
        const blocked =
          from === undefined && others.some((o) => o.startsWith(`${name}/`) || name.startsWith(`${o}/`));
        const swap = open(id).compareAndSwap([update]);
        if (blocked) await expect(swap).rejects.toBeInstanceOf(RefConflict);
        else {
          await swap;
          if (to === 0) model.delete(name);
          else model.set(name, to);
        }
      }
      expect(await refsOf(id)).toEqual(Object.fromEntries(model));
      expect(await opened.store.table.get(refNamesKey(id))).toBeDefined();
    }),
    { numRuns: 25 },
  );
});
