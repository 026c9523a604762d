import { afterAll, beforeAll, expect, test } from 'vitest';
import { locateProject } from '../../../lib/domain/access/locate.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import { placeIn } from '../../../lib/domain/namespaces/place.ts';
import { namespaceMove } from '../../../lib/domain/namespaces/rename.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import type { Visibility } from '../../../lib/records/visibility.ts';
import { removeBelongings } from '../../../lib/store/deletion/user.ts';
import { LimitReached, NameTaken, Stale } from '../../../lib/store/errors.ts';
import { placementInGroup } from '../../../lib/store/placement/project.ts';
import { padded } from '../../../lib/store/row-keys/key.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { createProject, newProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';
import { listProjects } from './filters.ts';

let opened: TestStore;
let ada: UserRecord;
let bob: UserRecord;
let deps: Deps;
beforeAll(async () => {
  opened = await openTestStore();
  ada = await opened.store.users.create(newUser('ada'));
  bob = await opened.store.users.create(newUser('bob'));
  deps = { store: opened.store, now: () => new Date() } as Deps;
});
afterAll(() => opened.close());

const projects = () => opened.store.projects;
const FAR = () => Date.now() + 60_000;
const userNow = async ({ id }: UserRecord) => (await opened.store.users.get(id))!;
const now = async ({ id }: ProjectRecord) => (await projects().get(id))!;

const group = (path: string, visibility: Visibility = 'private', parent?: GroupRecord) =>
  opened.store.groups.create(
    { name: path, path, visibility, description: '', creatorId: ada.id, settings: {} },
    { ownerId: ada.id, ...(parent === undefined ? {} : { parent }) },
  );
const inGroup = (parent: GroupRecord, path: string, visibility: Visibility = 'private') => {
  const { fullPath: _, ...place } = placementInGroup(parent, { path });
  return projects().create(newProject(ada, path, visibility, place), { headBranch: 'main', parent });
};
const intoGroup = (project: ProjectRecord, parent: GroupRecord, change = {}) => {
  const { fullPath: _, ...place } = placementInGroup(parent, project);
  return projects().transfer(project, { place: { ...place, ownerId: ada.id }, parent }, change);
};
const intoOwn = (project: ProjectRecord, owner: UserRecord) =>
  projects().transfer(project, { place: placeIn({ kind: 'user', owner }, owner), owner }, {});
const below = async (parent: GroupRecord) => {
  const ids: number[] = [];
  for (const row of ['DIRECT', 'DEEP'] as const)
    for await (const id of opened.store.groups.rowsBelow(parent.id, row, 'project')) ids.push(id);
  return ids;
};
const own = async (user: UserRecord) => {
  const page = await listProjects(opened.store, {
    viewer: { kind: 'admin', id: 1 },
    ownerId: user.id,
    page: 1,
    perPage: 100,
  });
  return page.items.map(({ project }) => project.fullPath);
};
const lookedUp = async (path: string) => (await locateProject(deps, path)).id;

test('transfers from a user to a group, to a subgroup and to another user change rows, counts and paths', async () => {
  const outer = await group('outer');
  const inner = await group('inner', 'private', outer);
  const made = await createProject(opened.store, ada, 'wanders');
  const before = (await userNow(ada)).projectsCount;

  const first = await intoGroup(made, outer);
  expect(first).toMatchObject({ fullPath: 'outer/wanders', namespaceKind: 'group', ancestorIds: [outer.id] });
  expect(await now(made)).toEqual(first);
  expect([await below(outer), await below(inner)]).toEqual([[made.id], []]);
  expect((await userNow(ada)).projectsCount).toBe(before - 1);
  expect(await own(ada)).not.toContain('outer/wanders');

  const second = await intoGroup(first, inner);
  expect([await below(outer), await below(inner)]).toEqual([[made.id], [made.id]]);
  expect(second.ancestorIds).toEqual([outer.id, inner.id]);

  const third = await intoOwn(second, bob);
  expect(third).toMatchObject({ fullPath: 'bob/wanders', ownerId: bob.id, ancestorIds: [] });
  expect([await below(outer), await below(inner)]).toEqual([[], []]);
  expect((await userNow(bob)).projectsCount).toBe(1);
  expect(await own(bob)).toEqual(['bob/wanders']);
  for (const path of ['ada/wanders', 'outer/wanders', 'outer/inner/wanders', 'BOB/wanders'])
    expect(await lookedUp(path)).toBe(made.id);
});

test('a transfer has the same conditions as a creation, and changes nothing when it is refused', async () => {
  const target = await group('strict');
  const taken = await inGroup(target, 'same');
  const made = await createProject(opened.store, ada, 'same');
  await expect(intoGroup(made, target)).rejects.toBeInstanceOf(NameTaken);
  const other = await createProject(opened.store, ada, 'other', 'public');
  // Nothing in a group is more visible than the group.
  await expect(intoGroup(other, target)).rejects.toBeInstanceOf(Stale);
  await intoGroup(other, target, { visibility: 'private' });
  const poor = await opened.store.users.create({ ...newUser('poor'), projectsLimit: 0 });
  await expect(intoOwn(taken, poor)).rejects.toBeInstanceOf(LimitReached);
  expect(await now(taken)).toEqual(taken);
  expect(await now(made)).toEqual(made);
  expect((await userNow(poor)).projectsCount).toBe(0);
});

test('of two concurrent transfers one succeeds and the other fails with an error', async () => {
  const [left, right] = [await group('left'), await group('right')];
  for (let n = 0; n < 4; n++) {
    const made = await createProject(opened.store, ada, `torn${n}`);
    const count = (await userNow(ada)).projectsCount;
    const outcomes = await Promise.allSettled([intoGroup(made, left), intoGroup(made, right)]);
    expect(outcomes.map((o) => o.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find((o) => o.status === 'rejected')!.reason).toBeInstanceOf(Stale);
    const at = await now(made);
    const [here, there] = at.namespaceId === left.id ? [left, right] : [right, left];
    expect(await below(here)).toContain(made.id);
    expect(await below(there)).not.toContain(made.id);
    expect((await userNow(ada)).projectsCount).toBe(count - 1);
  }
});

test('a rename and a creation for the same path: only one succeeds', async () => {
  for (let n = 0; n < 4; n++) {
    const made = await createProject(opened.store, ada, `old${n}`);
    const outcomes = await Promise.allSettled([
      projects().update(made, { path: `new${n}` }),
      createProject(opened.store, ada, `new${n}`),
    ]);
    expect(outcomes.map((o) => o.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find((o) => o.status === 'rejected')!.reason).toBeInstanceOf(NameTaken);
  }
});

test('a project in a group cannot be more visible than the group, nor get a new path while the group moves', async () => {
  const home = await group('home', 'internal');
  const made = await inGroup(home, 'piece');
  await expect(projects().update(made, { visibility: 'public' }, { parent: home })).rejects.toBeInstanceOf(
    Stale,
  );
  const seen = await projects().update(made, { visibility: 'internal' }, { parent: home });
  const moving = await opened.store.groups.update(home, { path: 'home2' }, { parents: [] });
  await expect(projects().update(seen, { path: 'part' }, { parent: moving })).rejects.toBeInstanceOf(Stale);
  await expect(projects().update(seen, { path: 'part' }, { parent: home })).rejects.toBeInstanceOf(Stale);
  await opened.store.groupMoves.moveDescendants(home.id, FAR());
  const settled = (await opened.store.groups.get(home.id))!;
  const part = await projects().update(await now(made), { path: 'part' }, { parent: settled });
  expect(part.fullPath).toBe('home2/part');
  for (const path of ['home/piece', 'home2/piece', 'home2/part']) expect(await lookedUp(path)).toBe(made.id);
});

test('an archived project refuses pushes, also one that began before it was archived', async () => {
  const made = await createProject(opened.store, ada, 'archive');
  const push = (name: string, repository = opened.store.repositories.open(made.repositoryId)) => ({
    repository,
    swap: () =>
      repository.compareAndSwap([
        { name: `refs/heads/${name}` as RefName, from: ZERO_OID, to: 'a'.repeat(40) as Oid },
      ]),
  });
  const underWay = push('late');
  await underWay.repository.listPacks();
  const archived = await projects().update(made, { archived: true });
  await expect(underWay.swap()).rejects.toMatchObject({ rejections: [{ reason: 'read-only' }] });
  expect((await underWay.repository.all()).refs).toEqual([]);
  await projects().update(archived, { archived: false });
  await push('now').swap();
});

const NOBODY = { actorId: null, baseUrl: '' };

test('when a user is renamed, projects are found by old and new paths at each step, and afterwards too', async () => {
  const eve = await opened.store.users.create(newUser('eve'));
  const made: ProjectRecord[] = [];
  for (let i = 0; i < 6; i++) made.push(await createProject(opened.store, eve, `p${i}`));
  const both = async () => {
    for (const { id, path } of made)
      expect([await lookedUp(`eve/${path}`), await lookedUp(`eva/${path}`)]).toEqual([id, id]);
  };
  const { change, alongside, messages } = namespaceMove(deps, eve, { username: 'eva', name: 'Eva' }, NOBODY);
  const eva = await opened.store.users.update(
    eve,
    { username: 'eva', name: 'Eva', ...change },
    { alongside, messages },
  );
  await both();
  expect(() => namespaceMove(deps, eva, { username: 'evi' }, NOBODY)).toThrow('Resource lock');

  // Created between the rename and its job: under the new name, never at a path that a pending move needs.
  await expect(createProject(opened.store, eve, 'late')).rejects.toBeInstanceOf(Stale);
  await expect(createProject(opened.store, eva, 'p3')).rejects.toBeInstanceOf(NameTaken);
  await expect(projects().update(await now(made[0]!), { path: 'q' })).rejects.toBeInstanceOf(Stale);
  const fresh = await createProject(opened.store, eva, 'p6');

  const settle = (last: boolean, deadline = FAR()) =>
    opened.store.personalNamespaces.moveProjects(eva.id, { deadline, last });
  expect(await settle(false, 0)).toBe('more');
  await both();
  expect(await Promise.all([settle(false), settle(false)])).not.toContain('more');
  expect(await settle(false)).toBe('done');
  await both();
  expect((await userNow(eva)).movedFrom).toBeNull();
  expect(await settle(true)).toBe('done');
  await both();
  expect((await own(eva)).sort()).toEqual([...made, fresh].map(({ path }) => `eva/${path}`));
  expect(await now(made[0]!)).toMatchObject({ namespaceName: 'Eva', namespacePath: 'eva' });

  // Another user may take the former name and the paths under it.
  const other = await opened.store.users.create({ ...newUser('eve'), email: 'other@example.com' });
  const theirs = await createProject(opened.store, other, 'p0');
  expect([await lookedUp('eve/p0'), await lookedUp('eve/p1')]).toEqual([theirs.id, made[1]!.id]);
});

test('the former username stays reserved until every project that was counted has moved, or the last run', async () => {
  const ida = await opened.store.users.create(newUser('ida'));
  const [kept, unlisted] = [
    await createProject(opened.store, ida, 'kept'),
    await createProject(opened.store, ida, 'unlisted'),
  ];
  // As an index that is late shows it.
  const index = { who: `USER#${padded(ida.id)}`, what: `OWN#${padded(unlisted.id)}` };
  await opened.store.table.update({ update: projectKey(unlisted.id), remove: ['who', 'what'] });
  const { change, alongside } = namespaceMove(deps, await userNow(ida), { username: 'ada-i' }, NOBODY);
  await opened.store.users.update(await userNow(ida), { username: 'ada-i', ...change }, { alongside });
  const settle = (last: boolean) =>
    opened.store.personalNamespaces.moveProjects(ida.id, { deadline: FAR(), last });
  expect(await settle(false)).toBe('blocked');
  expect((await now(kept)).fullPath).toBe('ada-i/kept');
  expect((await userNow(ida)).movedFrom).toBe('ida');
  await opened.store.table.update({ update: projectKey(unlisted.id), set: index });
  expect(await settle(false)).toBe('done');
  expect((await now(unlisted)).fullPath).toBe('ada-i/unlisted');
  expect((await userNow(ida)).movedFrom).toBeNull();
});

test('a transferred project survives the removal of its former owner, even if the index is stale', async () => {
  const leaver = await opened.store.users.create(newUser('leaver'));
  const home = await group('shelter');
  const kept = await intoGroup(await createProject(opened.store, leaver, 'kept'), home);
  const lost = await createProject(opened.store, leaver, 'lost');
  const stale = { who: `USER#${padded(leaver.id)}`, what: `OWN#${padded(kept.id)}` };
  await opened.store.table.update({ update: projectKey(kept.id), set: stale });
  await opened.store.users.remove(await userNow(leaver));
  await removeBelongings(opened.store, { userId: leaver.id }, FAR());
  expect(await now(kept)).toMatchObject({ fullPath: 'shelter/kept', deletedAt: null });
  expect(await now(lost)).toBeUndefined();
});
