import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../../lib/store/errors.ts';
import { counterKey } from '../../../lib/store/row-keys/counters.ts';
import { tokenCountKey } from '../../../lib/store/row-keys/tokens.ts';
import { MAX_TOKENS, type NewToken } from '../../../lib/store/tokens/rows.ts';
import { measured, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let ada: number;
let bob: number;
beforeAll(async () => {
  opened = await openTestStore();
  [ada, bob] = (await Promise.all(
    ['ada', 'bob'].map(async (name) => (await opened.store.users.create(newUser(name))).id),
  )) as [number, number];
});
afterAll(() => opened.close());

const newToken = (userId: number, change: Partial<NewToken> = {}): NewToken => ({
  userId,
  name: 'laptop',
  scopes: ['api', 'read_user'],
  expiresAt: null,
  hash: createHash('sha256').update(randomUUID()).digest('hex'),
  ...change,
});

describe('a token', () => {
  test('is found by its hash in one read, with all that authentication needs', async () => {
    const made = await opened.store.tokens.create(newToken(ada, { expiresAt: '2030-01-01' }));
    const { value, requests, items } = await measured(opened, () => opened.store.tokens.byHash(made.hash));
    expect(value).toEqual(made);
    expect({ requests, items }).toEqual({ requests: 1, items: 1 });
    expect(await opened.store.tokens.get(made.id)).toEqual(made);
    expect(await opened.store.tokens.byHash('0'.repeat(64))).toBeUndefined();
    expect(await opened.store.tokens.get(999_999)).toBeUndefined();
  });

  test('that is revoked is invalid at once', async () => {
    const made = await opened.store.tokens.create(newToken(ada));
    await opened.store.tokens.revoke(made);
    expect(await opened.store.tokens.byHash(made.hash)).toEqual({ ...made, revoked: true });
    const never = { ...made, hash: 'f'.repeat(64) };
    await expect(opened.store.tokens.revoke(never)).rejects.toBeInstanceOf(Missing);
    expect(await opened.store.tokens.byHash(never.hash)).toBeUndefined();
  });

  test('with a hash in use is refused', async () => {
    const token = newToken(ada);
    await opened.store.tokens.create(token);
    await expect(opened.store.tokens.create(token)).rejects.toBeInstanceOf(AlreadyExists);
  });

  test('needs an existing user with fewer tokens than the limit', async () => {
    await expect(opened.store.tokens.create(newToken(999_999))).rejects.toBeInstanceOf(Missing);
    const carol = (await opened.store.users.create(newUser('carol'))).id;
    const key = tokenCountKey({ kind: 'user', id: carol });
    const first = await opened.store.tokens.create(newToken(carol));
    await opened.store.table.update({ update: key, set: { live: MAX_TOKENS } });
    await expect(opened.store.tokens.create(newToken(carol))).rejects.toBeInstanceOf(LimitReached);
    await opened.store.tokens.revoke(first);
    await opened.store.tokens.revoke(first);
    await opened.store.tokens.create(newToken(carol));
    expect(await opened.store.table.get(key)).toMatchObject({ live: MAX_TOKENS });
  });

  test('is rotated: of two concurrent rotations one is refused', async () => {
    const made = await opened.store.tokens.create(newToken(ada, { name: 'turning' }));
    const now = new Date('2026-05-01T06:00:00Z');
    const next = () => ({ hash: newToken(ada).hash, expiresAt: '2030-01-01' });
    const results = await Promise.allSettled([1, 2].map(() => opened.store.tokens.rotate(made, next(), now)));
    const done = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(done).toMatchObject([{ name: 'turning', userId: ada, revoked: false, expiresAt: '2030-01-01' }]);
    expect(failed).toEqual([expect.any(Stale)]);
    expect(await opened.store.tokens.get(made.id)).toMatchObject({ revoked: true });
    expect(await opened.store.tokens.successor(made)).toEqual(done[0]);
    const third = await opened.store.tokens.rotate(done[0]!, next(), now);
    for (const one of [made, done[0]!, third])
      expect(await opened.store.tokens.successor(one)).toEqual(third);
    await expect(
      opened.store.tokens.rotate({ ...made, hash: 'e'.repeat(64) }, next(), now),
    ).rejects.toBeInstanceOf(Missing);
  });

  test('records its use at most once a day', async () => {
    const made = await opened.store.tokens.create(newToken(ada));
    const morning = new Date('2026-05-01T06:00:00Z');
    const noon = new Date('2026-05-01T12:00:00Z');
    await opened.store.tokens.touch(made, morning);
    await opened.store.tokens.touch(made, noon);
    const used = (await opened.store.tokens.byHash(made.hash))!;
    expect(used.lastUsedAt).toBe(morning.toISOString());
    const { requests } = await measured(opened, () => opened.store.tokens.touch(used, noon));
    expect(requests).toBe(0);
    const next = new Date('2026-05-02T00:00:00Z');
    await opened.store.tokens.touch(used, next);
    expect((await opened.store.tokens.byHash(made.hash))?.lastUsedAt).toBe(next.toISOString());
  });
});

test('tokens are listed for one user and for all users, page by page', async () => {
  const first = (await opened.store.table.get(counterKey('token')))?.['n'] as number;
  const before = (await opened.store.tokens.list({ of: { userId: bob }, page: 1, perPage: 1 })).items.length;
  expect(before).toBe(0);
  const made = await Promise.all(
    Array.from({ length: 23 }, (_, i) => opened.store.tokens.create(newToken(i % 2 ? bob : ada))),
  );
  made.sort((a, b) => a.id - b.id);
  const own = made.filter((token) => token.userId === bob);
  const list = (query: Partial<Parameters<TestStore['store']['tokens']['list']>[0]>) =>
    opened.store.tokens.list({ page: 1, perPage: 20, count: true, ...query });
  expect(await list({ of: { userId: bob } })).toMatchObject({ items: own, total: own.length, more: false });
  expect(await list({ of: { userId: bob }, page: 2, perPage: 8 })).toMatchObject({
    items: own.slice(8),
    more: false,
  });
  expect(await list({ of: { userId: 777 } })).toMatchObject({ items: [], total: 0, more: false });
  const all = await list({ perPage: 100 });
  expect(all.items.filter((token) => token.id > first)).toEqual(made);
  expect(all.total).toBe(all.items.length);
  expect((await list({ page: 2 })).items).toEqual(all.items.slice(20, 40));
  const backwards = await list({ of: { userId: bob }, direction: 'desc', perPage: 4 });
  expect(backwards.items).toEqual(own.toReversed().slice(0, 4));
  const even = await list({ where: (token) => token.id % 2 === 0 && token.userId === bob });
  expect(even.items).toEqual(own.filter(({ id }) => id % 2 === 0));
});

test('impersonation tokens have a list of their own', async () => {
  const dan = (await opened.store.users.create(newUser('dan'))).id;
  const plain = await opened.store.tokens.create(newToken(dan));
  const other = await opened.store.tokens.create(newToken(dan, { impersonation: true }));
  const request = { page: 1, perPage: 100, count: true };
  const items = async (query: object) => (await opened.store.tokens.list({ ...request, ...query })).items;
  expect(await items({ of: { userId: dan } })).toEqual([plain]);
  expect(await items({ of: { userId: dan, impersonation: true } })).toEqual([other]);
  const all = await items({ page: 1 });
  expect(all).toContainEqual(plain);
  expect(all).not.toContainEqual(other);
});

test('a page of the tokens of a user costs the same with ten times the tokens', async () => {
  const eve = (await opened.store.users.create(newUser('eve'))).id;
  const cost = async () => {
    const query = { of: { userId: eve }, page: 1, perPage: 5 } as const;
    const { requests, items } = await measured(opened, () => opened.store.tokens.list(query));
    return { requests, items };
  };
  for (let i = 0; i < 6; i++) await opened.store.tokens.create(newToken(eve));
  const few = await cost();
  await Promise.all(Array.from({ length: 54 }, () => opened.store.tokens.create(newToken(eve))));
  expect(await cost()).toEqual(few);
});
