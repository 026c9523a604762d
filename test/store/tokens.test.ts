import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AlreadyExists, Missing } from '../../lib/store/errors.ts';
import { counterKey } from '../../lib/store/keys.ts';
import type { NewToken } from '../../lib/store/tokens.ts';
import { measured, openTestStore, type TestStore } from './store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
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
  test('is found by its hash in one read, with all that access needs', async () => {
    const made = await opened.store.tokens.create(newToken(1, { expiresAt: '2030-01-01' }));
    const { value, requests, items } = await measured(opened, () => opened.store.tokens.byHash(made.hash));
    expect(value).toEqual(made);
    expect({ requests, items }).toEqual({ requests: 1, items: 1 });
    expect(await opened.store.tokens.get(made.id)).toEqual(made);
    expect(await opened.store.tokens.byHash('0'.repeat(64))).toBeUndefined();
    expect(await opened.store.tokens.get(999_999)).toBeUndefined();
  });

  test('is revoked at once', async () => {
    const made = await opened.store.tokens.create(newToken(1));
    await opened.store.tokens.revoke(made);
    expect(await opened.store.tokens.byHash(made.hash)).toEqual({ ...made, revoked: true });
    const never = { ...made, hash: 'f'.repeat(64) };
    await expect(opened.store.tokens.revoke(never)).rejects.toBeInstanceOf(Missing);
    expect(await opened.store.tokens.byHash(never.hash)).toBeUndefined();
  });

  test('given out twice is refused', async () => {
    const token = newToken(1);
    await opened.store.tokens.create(token);
    await expect(opened.store.tokens.create(token)).rejects.toBeInstanceOf(AlreadyExists);
  });

  test('notes its use once a day, whoever was first', async () => {
    const made = await opened.store.tokens.create(newToken(1));
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

test('lists: of one user, of everybody, by pages', async () => {
  const first = (await opened.store.table.get(counterKey('token')))?.['n'] as number;
  const made = await Promise.all(
    Array.from({ length: 23 }, (_, i) => opened.store.tokens.create(newToken(i % 2 ? 51 : 52))),
  );
  made.sort((a, b) => a.id - b.id);
  const own = made.filter((token) => token.userId === 51);
  const list = (query: Partial<Parameters<TestStore['store']['tokens']['list']>[0]>) =>
    opened.store.tokens.list({ page: 1, perPage: 20, count: true, ...query });
  expect(await list({ userId: 51 })).toMatchObject({ items: own, total: own.length, more: false });
  expect(await list({ userId: 51, page: 2, perPage: 8 })).toMatchObject({ items: own.slice(8), more: false });
  expect(await list({ userId: 777 })).toMatchObject({ items: [], total: 0, more: false });
  const all = await list({ perPage: 100 });
  expect(all.items.filter((token) => token.id > first)).toEqual(made);
  expect(all.total).toBe(all.items.length);
  expect((await list({ page: 2 })).items).toEqual(all.items.slice(20, 40));
});
