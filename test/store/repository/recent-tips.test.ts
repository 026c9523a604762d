import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefUpdate } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { RECENT_TIP_MS, recentTips } from '../../../lib/store/repository/recent-tips.ts';
import { newRepository } from '../../../lib/store/repository/state.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const name = (text: string) => `refs/${text}` as RefName;
const create = (text: string, n: number, peeled?: number): RefUpdate => ({
  ...{ name: name(text), from: ZERO_OID, to: oid(n) },
  ...(peeled === undefined ? {} : { peeled: oid(peeled) }),
});
const move = (text: string, from: number, to: number, forced?: true): RefUpdate => ({
  ...{ name: name(text), from: oid(from), to: oid(to) },
  ...(forced && { forced }),
});
const drop = (text: string, n: number): RefUpdate => ({ name: name(text), from: oid(n), to: ZERO_OID });

async function repository(...refs: RefUpdate[]) {
  const id = `repository-${Math.random()}`;
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  const refsOf = opened.store.repositories.open(id);
  await refsOf.compareAndSwap(refs);
  return { id, refs: refsOf };
}
const told = async (id: string, now?: number) =>
  (await recentTips(opened.store.table, id, now)).map(({ name, oid, peeled }) => [
    name.slice('refs/'.length),
    Number(`0x${oid}`),
    ...(peeled === undefined ? [] : [Number(`0x${peeled}`)]),
  ]);

test('old tips of deleted and forced refs are listed, newest first and tags peeled; fast-forwards are not', async () => {
  const { id, refs } = await repository(create('heads/a', 1), create('heads/b', 2), create('tags/t', 3, 4));
  expect(await told(id)).toEqual([]);
  await refs.compareAndSwap([move('heads/a', 1, 5), move('heads/b', 2, 2)]);
  expect(await told(id)).toEqual([]);
  await refs.compareAndSwap([move('heads/b', 2, 6, true), drop('tags/t', 3), move('heads/a', 5, 7)]);
  await new Promise((resolve) => setTimeout(resolve, 2));
  await refs.compareAndSwap([drop('heads/a', 7)]);
  expect(await told(id)).toEqual([
    ['heads/a', 7],
    ['heads/b', 2],
    ['tags/t', 3, 4],
  ]);
  expect(await refs.recentTips()).toHaveLength(3);
});

test('a refused write records no old tips', async () => {
  const { id, refs } = await repository(create('heads/a', 1), create('heads/b', 2));
  await expect(refs.compareAndSwap([drop('heads/a', 1), drop('heads/b', 9)])).rejects.toThrow();
  expect(await told(id)).toEqual([]);
});

test('an old tip is listed for 15 minutes, and its row expires', async () => {
  const { id, refs } = await repository(create('heads/a', 1));
  const before = Date.now();
  await refs.compareAndSwap([drop('heads/a', 1)]);
  expect(await told(id, Date.now() + RECENT_TIP_MS - 60_000)).toHaveLength(1);
  expect(await told(id, Date.now() + RECENT_TIP_MS + 60_000)).toEqual([]);
  const rows = opened.store.table.queryAll({ partition: `REPO#${id}`, prefix: 'LEFT#' });
  for await (const { ttl } of rows) {
    expect(ttl).toBeGreaterThanOrEqual((before + RECENT_TIP_MS) / 1000);
    expect(ttl).toBeLessThan((Date.now() + RECENT_TIP_MS) / 1000 + 1);
  }
});

test('a write of more refs than a transaction holds records 200 old tips', async () => {
  const many = Array.from({ length: 300 }, (_, i) => `heads/${String(i).padStart(4, '0')}`);
  const { id, refs } = await repository(...many.map((text, i) => create(text, i + 1)));
  await refs.compareAndSwap(many.slice(0, 60).map((text, i) => drop(text, i + 1)));
  expect(await told(id)).toHaveLength(60);
  await refs.compareAndSwap(many.slice(60).map((text, i) => drop(text, i + 61)));
  expect((await told(id)).length).toBe(260);
  expect((await refs.all()).refs).toEqual([]);
});
