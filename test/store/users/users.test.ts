import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { UserRecord } from '../../../lib/records/users.ts';
import { Missing, NameTaken, Stale } from '../../../lib/store/errors.ts';
import { counterKey } from '../../../lib/store/row-keys/counters.ts';
import { newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterEach(() => opened.dynamo.faults.clear());
afterAll(() => opened.close());

const users = () => opened.store.users;

describe('a user', () => {
  test('is stored as created, and found by id, username and email, case-insensitively', async () => {
    const made = await users().create(newUser('Ada', { profile: { bio: 'engines', nested: { a: [1] } } }));
    expect(made).toMatchObject({ username: 'Ada', projectsCount: 0, version: 1 });
    expect(await users().get(made.id)).toEqual(made);
    expect(await users().byUsername('aDA')).toEqual(made);
    expect(await users().byEmail('ADA@example.org')).toEqual(made);
    expect(await users().getMany([made.id, 999_999])).toEqual([made, undefined]);
    expect(await users().byUsername('nobody')).toBeUndefined();
  });

  test.each([
    ['the username', { email: 'other@example.org' }, ['username']],
    ['the email', { username: 'bob2' }, ['email']],
    ['both', {}, ['username', 'email']],
  ])('whose name is taken is refused with an error that names it: %s', async (what, change, taken) => {
    await users().create(newUser(`bob ${what}`, { email: `bob ${what}@example.org`.toUpperCase() }));
    const twin = newUser(`BOB ${what}`, { email: `bob ${what}@EXAMPLE.org`, ...change });
    const refused = await users()
      .create(twin)
      .catch((e: unknown) => e);
    expect(refused).toBeInstanceOf(NameTaken);
    expect((refused as NameTaken).names).toEqual(taken);
  });

  test('created concurrently exists once; the other creation leaves nothing', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        users().create(newUser('racer', { email: `racer${i}@example.org` })),
      ),
    );
    const won = outcomes.filter((o) => o.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const lost of outcomes.filter((o) => o.status === 'rejected')) {
      expect(lost.reason).toBeInstanceOf(NameTaken);
      expect(lost.reason.names).toEqual(['username']);
    }
    const winner = await users().byUsername('racer');
    const mails = await Promise.all(outcomes.map((_, i) => users().byEmail(`racer${i}@example.org`)));
    expect(mails.filter(Boolean)).toEqual([winner]);
  });

  test('is updated only from the version that was read', async () => {
    const made = await users().create(newUser('versioned'));
    const renamed = await users().update(made, { name: 'New Name', passwordHash: 'x' });
    expect(renamed).toMatchObject({ name: 'New Name', version: 2 });
    expect(await users().get(made.id)).toEqual(renamed);
    await expect(users().update(made, { name: 'Late' })).rejects.toBeInstanceOf(Stale);
    expect((await users().get(made.id))?.name).toBe('New Name');
  });

  test('can be renamed: the old names are free, the new ones taken', async () => {
    const made = await users().create(newUser('oldname'));
    const other = await users().create(newUser('othername'));
    const moved = await users().update(made, { username: 'newname', email: 'new@example.org' });
    expect(await users().byUsername('oldname')).toBeUndefined();
    expect(await users().byUsername('newname')).toEqual(moved);
    expect(await users().byEmail('oldname@example.org')).toBeUndefined();
    await expect(users().update(other, { username: 'NEWNAME' })).rejects.toMatchObject({
      names: ['username'],
    });
    const respelled = await users().update(moved, { username: 'NewName' });
    expect(await users().byUsername('newname')).toEqual(respelled);
    await users().create(newUser('oldname'));
  });

  test('that is removed is gone at once, and its names are free', async () => {
    const made = await users().create(newUser('leaver'));
    await users().remove(made);
    expect(await users().get(made.id)).toBeUndefined();
    expect(await users().byUsername('leaver')).toBeUndefined();
    expect((await users().list({ page: 1, perPage: 100 })).items.map((u) => u.id)).not.toContain(made.id);
    await expect(users().update(made, { name: 'x' })).rejects.toBeInstanceOf(Missing);
    const again = await users().create(newUser('leaver'));
    expect(again.id).toBeGreaterThan(made.id);
  });

  test('records activity once a day without changing its version', async () => {
    const made = await users().create(newUser('active'));
    await users().touch(made.id, '2026-01-02');
    await users().touch(made.id, '2026-01-01');
    const now = await users().get(made.id);
    expect(now).toEqual({ ...made, lastActivityOn: '2026-01-02' });
    await users().touch(987_654, '2026-01-02');
    expect(await users().get(987_654)).toBeUndefined();
  });
});

test('fifty concurrent creations get fifty ids, and the counter is never below an id in use', async () => {
  const made = await Promise.all(Array.from({ length: 50 }, (_, i) => users().create(newUser(`crowd${i}`))));
  const ids = made.map((user) => user.id);
  expect(new Set(ids).size).toBe(50);
  expect(new Set(made.map((user) => user.namespaceId)).size).toBe(50);
  const counter = await opened.store.table.get(counterKey('user'));
  expect(counter!['n']).toBeGreaterThanOrEqual(Math.max(...ids));
});

test('a lost response of the id counter leaves a gap, never a duplicate id', async () => {
  const before = await users().create(newUser('gap0'));
  opened.dynamo.faults.next('UpdateItem', { loseAnswer: true }, 2);
  const [a, b] = [await users().create(newUser('gap1')), await users().create(newUser('gap2'))];
  expect(a.id).toBeGreaterThan(before.id);
  expect(b.id).toBeGreaterThan(a.id);
});

describe('the list of users', () => {
  let other: TestStore;
  const made: UserRecord[] = [];
  beforeAll(async () => {
    other = await openTestStore();
    const names = ['delta', 'Alpha', 'charlie', 'bravo', 'Écho', 'zulu', 'alpha'];
    for (const [i, name] of names.entries()) {
      const states = { 2: 'blocked', 5: 'deactivated' } as const;
      const user = newUser(`user${9 - i}`, {
        name,
        state: states[i as 2 | 5] ?? 'active',
        external: i === 3,
      });
      made.push(await other.store.users.create(user, { now: new Date(Date.UTC(2026, 0, 1, 0, 0, i)) }));
    }
    made[1] = await other.store.users.update(made[1]!, { profile: { a: 1 } });
  });
  afterAll(() => other.close());
  const list = async (query: Partial<Parameters<TestStore['store']['users']['list']>[0]>) =>
    other.store.users.list({ page: 1, perPage: 20, count: true, ...query });
  const indexes = (items: readonly UserRecord[]) => items.map((u) => made.findIndex((m) => m.id === u.id));

  test.each([
    [{}, [6, 5, 4, 3, 2, 1, 0]],
    [{ direction: 'asc' }, [0, 1, 2, 3, 4, 5, 6]],
    [{ order: 'created_at', direction: 'asc' }, [0, 1, 2, 3, 4, 5, 6]],
    [{ order: 'name', direction: 'asc' }, [1, 6, 3, 2, 0, 5, 4]],
    [{ order: 'name', direction: 'desc' }, [4, 5, 0, 2, 3, 6, 1]],
    [{ order: 'username', direction: 'asc' }, [6, 5, 4, 3, 2, 1, 0]],
    [{ order: 'updated_at', direction: 'desc' }, [1, 6, 5, 4, 3, 2, 0]],
    [{ states: ['active'] }, [6, 4, 3, 1, 0]],
    [{ states: ['blocked'] }, [2]],
    [{ states: ['banned'] }, []],
    [{ where: (u: UserRecord) => u.external }, [3]],
  ] as const)('%j', async (query, expected) => {
    const page = await list(query);
    expect(indexes(page.items)).toEqual(expected);
    expect(page.total).toBe(expected.length);
    expect(page.more).toBe(false);
  });

  test('is paginated by page number and by keyset', async () => {
    expect(await list({ page: 2, perPage: 3 })).toMatchObject({ total: 7, more: true });
    expect(indexes((await list({ page: 3, perPage: 3 })).items)).toEqual([0]);
    expect((await list({ page: 9, perPage: 3 })).items).toEqual([]);
    const after = await list({ idAfter: made[2]!.id, direction: 'asc', perPage: 2, count: false });
    expect(indexes(after.items)).toEqual([3, 4]);
    expect(after).toMatchObject({ more: true, total: undefined });
    expect(indexes((await list({ idBefore: made[2]!.id })).items)).toEqual([1, 0]);
    await expect(list({ page: 2502, perPage: 20 })).rejects.toMatchObject({ code: 'bad-page' });
  });

  test('follows a change of state: the user moves to the other list', async () => {
    const blocked = await other.store.users.update(made[0]!, { state: 'blocked' });
    expect(indexes((await list({ states: ['blocked'] })).items)).toEqual([2, 0]);
    await other.store.users.update(blocked, { state: 'active' });
    expect(indexes((await list({ states: ['blocked'] })).items)).toEqual([2]);
  });

  test('is searched by part of a name or username, or whole email, once the worker has indexed', async () => {
    for (const { id } of made) {
      await other.store.search.index('user', id, async () => {
        const user = await other.store.users.get(id);
        return user === undefined ? undefined : [user.name, user.username];
      });
    }
    expect(indexes((await list({ search: 'ALPH' })).items)).toEqual([6, 1]);
    expect(indexes((await list({ search: 'ser7' })).items)).toEqual([2]);
    expect(indexes((await list({ search: 'écho' })).items)).toEqual([4]);
    expect(indexes((await list({ search: 'al' })).items)).toEqual([6, 1]);
    const whole = made[3]!.email.toUpperCase();
    expect(indexes((await list({ search: whole, anyEmail: true })).items)).toEqual([3]);
    expect(indexes((await list({ search: whole })).items)).toEqual([]);
    expect(await list({ search: 'nowhere' })).toMatchObject({ items: [], total: 0 });
  });
});
