import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { LimitReached, Missing, NameTaken, Stale } from '../../../lib/store/errors.ts';
import { MoreVisibleInside, type NewGroup } from '../../../lib/store/groups/groups.ts';
import { treePartition } from '../../../lib/store/row-keys/groups.ts';
import { newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let ada: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  ada = await opened.store.users.create(newUser('ada'));
});
afterAll(() => opened.close());

const groups = () => opened.store.groups;
const named = (path: string, change: Partial<NewGroup> = {}): NewGroup => ({
  name: `Name of ${path}`,
  path,
  visibility: 'private',
  description: '',
  creatorId: ada.id,
  settings: {},
  ...change,
});
const make = (path: string, parent?: GroupRecord, change: Partial<NewGroup> = {}) =>
  groups().create(named(path, change), { ownerId: ada.id, ...(parent === undefined ? {} : { parent }) });
const below = async (group: GroupRecord) => {
  const rows = [];
  for await (const row of opened.store.table.queryAll({ partition: treePartition(group.id) })) rows.push(row);
  return rows.map((row) => `${(row['sk'] as string).replace(/0+(?=\d)/, '')} ${row['visibility']}`);
};

test('a group is listed under all of its ancestors, and its creator is its owner', async () => {
  const top = await make('top', undefined, { visibility: 'public' });
  const mid = await make('Mid', top, { visibility: 'internal' });
  const leaf = await make('leaf', mid);
  expect(leaf).toMatchObject({
    fullPath: 'top/Mid/leaf',
    fullName: 'Name of top / Name of Mid / Name of leaf',
    parentId: mid.id,
    ancestorIds: [top.id, mid.id],
  });
  expect(await groups().byPath('TOP/mid/LEAF')).toEqual(leaf);
  expect(await below(top)).toEqual([`DEEP#GROUP#${leaf.id} private`, `DIRECT#GROUP#${mid.id} internal`]);
  expect(await below(mid)).toEqual([`DIRECT#GROUP#${leaf.id} private`]);
  const member = await opened.store.members.get({ kind: 'group', id: leaf.id }, ada.id);
  expect(member).toMatchObject({ accessLevel: 50, expiresAt: null });
  const memberships = [];
  for await (const { source } of opened.store.members.ofUser(ada.id)) memberships.push(source);
  expect(memberships).toEqual([top, mid, leaf].map(({ id }) => ({ kind: 'group', id })));
});

test('users, groups and projects share one namespace, case-insensitively', async () => {
  await expect(make('Ada')).rejects.toBeInstanceOf(NameTaken);
  const outcomes = await Promise.allSettled(['race', 'Race', 'RACE'].map((path) => make(path)));
  expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
  for (const lost of outcomes.filter((o) => o.status === 'rejected'))
    expect(lost.reason).toBeInstanceOf(NameTaken);
});

test('groups are nested at most twenty levels deep', async () => {
  let group = await make('d1');
  for (let depth = 2; depth <= 20; depth++) group = await make(`d${depth}`, group);
  expect(group.fullPath.split('/')).toHaveLength(20);
  await expect(make('d21', group)).rejects.toBeInstanceOf(LimitReached);
});

test('nothing is more visible than its parent group, also when both change concurrently', async () => {
  const outer = await make('outer', undefined, { visibility: 'internal' });
  await expect(make('open', outer, { visibility: 'public' })).rejects.toBeInstanceOf(Stale);
  const inner = await make('inner', outer, { visibility: 'internal' });
  await expect(groups().update(outer, { visibility: 'private' })).rejects.toBeInstanceOf(MoreVisibleInside);
  expect(await groups().get(outer.id)).toEqual(outer);
  const hidden = await groups().update(inner, { visibility: 'private' }, { parents: [outer] });
  expect(await below(outer)).toEqual([`DIRECT#GROUP#${inner.id} private`]);

  for (let n = 0; n < 5; n++) {
    const both = await make(`both${n}`, undefined, { visibility: 'public' });
    const [lowered, created] = await Promise.allSettled([
      groups().update(both, { visibility: 'private' }),
      make('child', both, { visibility: 'public' }),
    ]);
    expect([lowered.status, created.status]).toContain('rejected');
    const now = (await groups().get(both.id))!;
    const child = await groups().byPath(`both${n}/child`);
    expect(now.visibility === 'public' || child === undefined).toBe(true);
  }
  await expect(
    groups().update(hidden, { visibility: 'public' }, { parents: [outer] }),
  ).rejects.toBeInstanceOf(Stale);
});

test('the old path of a group redirects until it is taken; a stale update is refused', async () => {
  const before = await make('before');
  const after = await groups().update(before, { path: 'after' });
  expect(after).toMatchObject({ fullPath: 'after', movedFrom: 'before' });
  expect(await groups().byPath('before')).toEqual(after);
  expect(await groups().holderOfPath('before')).toMatchObject({ current: false });
  const heir = await make('before');
  expect(await groups().byPath('before')).toEqual(heir);
  await expect(groups().update(before, { name: 'late' })).rejects.toBeInstanceOf(Stale);
  // One move at a time: the descendants have not moved yet.
  await expect(groups().update(after, { path: 'further' })).rejects.toBeInstanceOf(Stale);
});

test('a deleted group is not found any more, and its path is free', async () => {
  const doomed = await make('doomed');
  await groups().remove(doomed);
  expect(await groups().get(doomed.id)).toBeUndefined();
  expect(await groups().byPath('doomed')).toBeUndefined();
  await expect(make('inside', doomed)).rejects.toBeInstanceOf(Missing);
  await expect(groups().remove(doomed)).rejects.toBeInstanceOf(Missing);
  await make('doomed');
});
