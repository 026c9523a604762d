import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AccessLevel, MemberRecord, MemberSource } from '../../../lib/records/members.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { AlreadyExists, Missing } from '../../../lib/store/errors.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let owner: UserRecord;
let guest: UserRecord;
let project: ProjectRecord;
beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('owner'));
  guest = await opened.store.users.create(newUser('guest'));
  project = await createProject(opened.store, owner, 'project');
});
afterAll(() => opened.close());

const member = (
  userId: number,
  accessLevel: AccessLevel,
  change: Partial<MemberRecord> = {},
): MemberRecord => ({
  source: of(project),
  userId,
  accessLevel,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: null,
  createdById: owner.id,
  ...change,
});
const members = () => opened.store.members;
const of = ({ id }: ProjectRecord): MemberSource => ({ kind: 'project', id });

test('a member is added, changed and removed once; every concurrent loser gets an error', async () => {
  const outcomes = await Promise.allSettled(
    [10, 20, 30].map((level) => members().add(member(guest.id, level as AccessLevel))),
  );
  expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(1);
  for (const lost of outcomes.filter((o) => o.status === 'rejected'))
    expect(lost.reason).toBeInstanceOf(AlreadyExists);
  const changed = await members().change(of(project), guest.id, { accessLevel: 40 });
  expect(changed).toEqual(member(guest.id, 40));
  expect(await members().get(of(project), guest.id)).toEqual(changed);
  const dated = await members().change(of(project), guest.id, { accessLevel: 30, expiresAt: '2999-01-01' });
  expect(await members().change(of(project), guest.id, { accessLevel: 20 })).toEqual({
    ...dated,
    accessLevel: 20,
  });
  expect(await members().change(of(project), guest.id, { accessLevel: 20, expiresAt: null })).toMatchObject({
    expiresAt: null,
  });
  await members().remove(of(project), guest.id);
  expect(await members().get(of(project), guest.id)).toBeUndefined();
  await expect(members().remove(of(project), guest.id)).rejects.toBeInstanceOf(Missing);
  await expect(members().change(of(project), guest.id, { accessLevel: 10 })).rejects.toBeInstanceOf(Missing);
});

test('a membership needs a user and a project that exist', async () => {
  await expect(members().add(member(987_654, 10))).rejects.toMatchObject({ code: 'missing' });
  const doomed = await createProject(opened.store, owner, 'doomed');
  await opened.store.projects.remove(doomed);
  await expect(members().add(member(guest.id, 10, { source: of(doomed) }))).rejects.toBeInstanceOf(Missing);
});

test('an expired membership counts as deleted everywhere, and can be replaced by a new one', async () => {
  await members().add(member(guest.id, 30, { expiresAt: new Date().toISOString().slice(0, 10) }));
  expect(await members().get(of(project), guest.id)).toBeUndefined();
  expect(await members().ofUserIn(guest.id, [of(project)])).toEqual([undefined]);
  expect((await members().list(of(project), { page: 1, perPage: 20, count: true })).total).toBe(1);
  const rows = [];
  for await (const row of members().ofUser(guest.id)) rows.push(row);
  expect(rows).toEqual([]);
  const few = () =>
    Promise.all([
      members().fewOfUser(guest.id, 'project'),
      members().fewWithUser(guest.id, 'project', 50),
      members().fewWithUser(guest.id, 'project', 1),
    ]);
  expect(await few()).toEqual([new Map(), new Set(), undefined]);
  await members().add(member(guest.id, 20));
  expect(await few()).toEqual([new Map([[project.id, 20]]), new Set([project.id]), undefined]);
  await members().change(of(project), guest.id, { accessLevel: 20, expiresAt: '2999-01-01' });
  expect(await few()).toEqual([new Map([[project.id, 20]]), new Set([project.id]), undefined]);
  await members().change(of(project), guest.id, { accessLevel: 20, expiresAt: null });
  expect(await members().get(of(project), guest.id)).toMatchObject({ accessLevel: 20, expiresAt: null });
  for await (const row of members().ofUser(guest.id)) rows.push(row);
  expect(rows).toEqual([{ source: of(project), accessLevel: 20 }]);
  await members().remove(of(project), guest.id);
});

test('members are listed by user id, page by page, and removed by a worker in batches', async () => {
  const crowd = await Promise.all(
    Array.from({ length: 25 }, (_, i) => opened.store.users.create(newUser(`crowd${i}`))),
  );
  const listed = await createProject(opened.store, owner, 'listed');
  for (const user of crowd) await members().add(member(user.id, 10, { source: of(listed) }));
  const ids = [owner.id, ...crowd.map((user) => user.id)].toSorted((a, b) => a - b);
  const page = await members().list(of(listed), { page: 2, perPage: 10, count: true });
  expect(page.items.map((m) => m.userId)).toEqual(ids.slice(10, 20));
  expect(page).toMatchObject({ total: 26, more: true });
  expect((await members().list(of(listed), { page: 3, perPage: 10 })).items).toHaveLength(6);
  let calls = 0;
  while (await members().removeAll(of(listed), 10)) calls++;
  expect(calls).toBeGreaterThan(1);
  expect((await members().list(of(listed), { page: 1, perPage: 10, count: true })).total).toBe(0);
  expect(await opened.store.projects.get(listed.id)).toEqual(listed);
});
