import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { changeGuards } from '../../../lib/store/repository/state.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

const create = { name: 'refs/heads/x' as RefName, from: ZERO_OID, to: '1'.repeat(40) as Oid };

async function frozenSince(time: number) {
  const { store } = opened;
  const owner = await store.users.create(newUser(`owner${time}`));
  const { repositoryId } = await createProject(store, owner, 'frozen');
  await store.table.transact(changeGuards(repositoryId, { frozenBy: ulid(time) }));
  return store.repositories.open(repositoryId);
}

test('a writer blocked too long by a bulk ref write is refused as retryable, and nothing is written', async () => {
  const refs = await frozenSince(Date.now());
  const refused = await refs.compareAndSwap([create]).catch((error: unknown) => error);
  expect(refused).toMatchObject({ rejections: [{ name: null, reason: 'read-only' }] });
  expect((await refs.all()).refs).toEqual([]);
});

test('a bulk ref write that crashed blocks other writers for at most a minute', async () => {
  const refs = await frozenSince(Date.now() - 61_000);
  await refs.compareAndSwap([create]);
  expect((await refs.all()).refs).toHaveLength(1);
});

test('a bulk ref write that does not learn whether it froze the refs unfreezes them', async () => {
  const { store, impatient, dynamo } = opened;
  const owner = await store.users.create(newUser('deaf'));
  const { repositoryId } = await createProject(store, owner, 'deaf');
  const refs = impatient.repositories.open(repositoryId);
  const many = Array.from({ length: 100 }, (_, i) => ({ ...create, name: `refs/tags/${i}` as RefName }));
  // The freeze is written each time, but the response is lost.
  dynamo.faults.onRequest = ({ operation, input }) =>
    operation === 'TransactWriteItems' && JSON.stringify(input).includes('GUARD#7')
      ? { loseAnswer: true }
      : undefined;
  await expect(refs.compareAndSwap(many)).rejects.toMatchObject({ code: 'unavailable' });
  dynamo.faults.clear();
  await store.repositories.open(repositoryId).compareAndSwap([create]);
  expect((await refs.all()).refs.map(({ name }) => name)).toEqual([create.name]);
});
