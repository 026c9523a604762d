import { afterAll, beforeAll, expect, test } from 'vitest';
import { locateGroup, locateProject } from '../../../lib/domain/access/locate.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import type { Visibility } from '../../../lib/records/visibility.ts';
import { removeGroupContent } from '../../../lib/store/deletion/group.ts';
import { NameTaken, Stale } from '../../../lib/store/errors.ts';
import { message } from '../../../lib/store/outbox/outbox.ts';
import { placementInGroup } from '../../../lib/store/placement/project.ts';
import { treePartition } from '../../../lib/store/row-keys/groups.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { listGroups, listProjects } from '../projects/filters.ts';
import { newProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let ada: UserRecord;
let deps: Deps;
beforeAll(async () => {
  opened = await openTestStore();
  ada = await opened.store.users.create(newUser('ada'));
  deps = { store: opened.store } as Deps;
});
afterAll(() => opened.close());

const groups = () => opened.store.groups;
const moves = () => opened.store.groupMoves;
const FAR = () => Date.now() + 60_000;

const make = (path: string, parent?: GroupRecord, visibility: Visibility = 'private'): Promise<GroupRecord> =>
  groups().create(
    { name: path, path, visibility, description: '', creatorId: ada.id, settings: {} },
    { ownerId: ada.id, ...(parent === undefined ? {} : { parent }) },
  );
const put = (
  path: string,
  parent: GroupRecord,
  visibility: Visibility = 'private',
): Promise<ProjectRecord> => {
  const { fullPath: _, ...place } = placementInGroup(parent, { path });
  const project = newProject(ada, path, visibility, place);
  return opened.store.projects.create(project, { headBranch: 'main', parent });
};
const below = async (group: GroupRecord) => {
  const rows: string[] = [];
  for await (const row of opened.store.table.queryAll({ partition: treePartition(group.id) }))
    rows.push((row['sk'] as string).replace(/0+(?=\d)/, ''));
  return rows;
};

/** A group of that name with `size` nested groups and `size` projects in them. */
async function tree(path: string, size: number) {
  const top = await make(path);
  const inner: GroupRecord[] = [];
  const projects: ProjectRecord[] = [];
  let parent = top;
  for (let i = 0; i < size; i++) {
    const child = await make(`g${i}`, parent);
    inner.push(child);
    projects.push(await put(`p${i}`, child));
    // Five levels deep, then wide.
    parent = child.ancestorIds.length < 5 ? child : top;
  }
  return { top, inner, projects };
}

test('while a group of fifty moves, interrupted at every step, everything is found by old and new path', async () => {
  const { top, inner, projects } = await tree('moving', 25);
  const elsewhere = await make('elsewhere');
  const keeper = await opened.store.users.create(newUser('keeper'));
  await opened.store.members.add({
    source: { kind: 'group', id: elsewhere.id },
    userId: keeper.id,
    accessLevel: 20,
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    createdById: null,
  });
  const moved = await groups().update(top, { path: 'moved' }, { parents: [elsewhere] });
  expect(moved).toMatchObject({ fullPath: 'elsewhere/moved', movedFrom: 'moving', parentId: elsewhere.id });
  expect(await below(elsewhere)).toEqual([`DIRECT#GROUP#${top.id}`, `SETTLING#${top.id}`]);

  const tail = (path: string) => path.slice('moving'.length);
  const found = async () => {
    for (const { id, fullPath } of inner) {
      expect((await locateGroup(deps, fullPath)).id, fullPath).toBe(id);
      expect((await locateGroup(deps, `elsewhere/moved${tail(fullPath)}`)).id, fullPath).toBe(id);
    }
    for (const { id, fullPath } of projects) {
      expect((await locateProject(deps, fullPath)).id, fullPath).toBe(id);
      expect((await locateProject(deps, `elsewhere/moved${tail(fullPath)}`)).id, fullPath).toBe(id);
    }
  };
  await found();
  /** Lists of the descendants of a group, by group and for its members. */
  const listed = async () => {
    const page = { viewer: { kind: 'user', id: keeper.id, internal: true }, page: 1, perPage: 100 } as const;
    const deep = { id: elsewhere.id, deep: true, open: true };
    const ids = (items: readonly { project?: { id: number }; group?: { id: number } }[]) =>
      items.map(({ project, group }) => (project ?? group)!.id).sort((a, b) => a - b);
    const store = opened.store;
    const inside = ids(projects.map((project) => ({ project })));
    const in_ = { ...page, inGroup: { ...deep, shared: false }, count: true };
    const projectPage = await listProjects(store, in_);
    expect(ids(projectPage.items)).toEqual(inside);
    expect(projectPage.total).toBe(inside.length);
    expect(ids((await listProjects(store, { ...page, membership: true })).items)).toEqual(inside);
    const tops = ids([top, ...inner].map((group) => ({ group })));
    expect(ids((await listGroups(store, { ...page, all: true, below: deep })).items)).toEqual(tops);
    const mine = await listGroups(store, { ...page, all: false, order: 'id' });
    expect(ids(mine.items)).toEqual([...tops, elsewhere.id].sort((a, b) => a - b));
  };
  await listed();

  // Each run is interrupted after some of its writes.
  let steps = 0;
  const real = opened.store.table.transact;
  for (let runs = 1; ; runs++) {
    let left = 7;
    opened.store.table.transact = (...args) => {
      if (left-- === 0) throw new Error('stopped');
      steps++;
      return real.apply(opened.store.table, args);
    };
    const ended = await moves()
      .moveDescendants(top.id, FAR())
      .catch(() => 'stopped');
    opened.store.table.transact = real;
    if (runs % 3 === 1) {
      await found();
      await listed();
    }
    if (ended === 'done') break;
    expect(runs).toBeLessThan(50);
  }
  expect(steps).toBeGreaterThanOrEqual(50);
  await found();
  await listed();
  expect((await below(elsewhere)).filter((row) => row.startsWith('SETTLING'))).toEqual([]);

  expect((await groups().get(top.id))!.movedFrom).toBeNull();
  for (const { id, fullPath, ancestorIds } of inner) {
    expect(await groups().get(id)).toMatchObject({
      fullPath: `elsewhere/moved${tail(fullPath)}`,
      fullName: `elsewhere / moving${tail(fullPath).replaceAll('/', ' / ')}`,
      ancestorIds: [elsewhere.id, ...ancestorIds],
      movedFrom: null,
    });
  }
  for (const { id, fullPath, path, ancestorIds, namespaceId } of projects) {
    const now = (await opened.store.projects.get(id))!;
    expect(now).toMatchObject({
      fullPath: `elsewhere/moved${tail(fullPath)}`,
      namespaceId,
      ancestorIds: [elsewhere.id, ...ancestorIds],
    });
    expect(now.fullPath).toBe(`${now.namespacePath}/${path}`);
  }
  const rows = await below(elsewhere);
  expect(rows).toHaveLength(51);
  expect(rows.filter((row) => row.endsWith('pending'))).toEqual([]);
  expect(await below(top)).toHaveLength(50);
});

test('a project created in a moving group cannot take a path that a descendant will get', async () => {
  const top = await make('busy');
  const child = await put('child', top);
  const moved = await groups().update(top, { path: 'busier' });
  // The name `busier/child` is free, but a descendant that has not moved yet will get it.
  await expect(put('child', moved)).rejects.toBeInstanceOf(NameTaken);
  const other = await put('other', moved);
  expect(await moves().moveDescendants(top.id, FAR())).toBe('done');
  expect((await opened.store.projects.get(child.id))!.fullPath).toBe('busier/child');
  expect((await opened.store.projects.get(other.id))!.fullPath).toBe('busier/other');
});

test('descendants of a group whose visibility is reduced become no more visible than it, wherever a run stops', async () => {
  const quiet = await make('quiet', undefined, 'internal');
  const top = await make('loud', undefined, 'public');
  const shown = await make('shown', top, 'public');
  const deep = await make('deep', shown, 'public');
  const secret = await make('secret', shown, 'private');
  const projects = await Promise.all([top, shown, deep].map((group, i) => put(`code${i}`, group, 'public')));
  const hidden = await put('hidden', deep, 'private');
  const moved = await groups().update(top, { visibility: 'internal' }, { parents: [quiet] });
  await expect(put('late', moved, 'public')).rejects.toBeInstanceOf(Stale);

  const real = opened.store.table.transact;
  for (let runs = 1; ; runs++) {
    // A group that was not processed yet accepts the same visibility as before.
    const open = (await groups().get(deep.id))!;
    if (open.visibility === 'public') projects.push(await put(`late${runs}`, open, 'public'));
    else await expect(put(`late${runs}`, open, 'public')).rejects.toBeInstanceOf(Stale);
    let left = 1;
    opened.store.table.transact = (...args) => {
      if (left-- === 0) throw new Error('stopped');
      return real.apply(opened.store.table, args);
    };
    const ended = await moves()
      .moveDescendants(top.id, FAR())
      .catch(() => 'stopped');
    opened.store.table.transact = real;
    if (ended === 'done') break;
    expect(runs).toBeLessThan(50);
  }
  const visibility = async (of: 'groups' | 'projects', { id }: { id: number }) =>
    (await opened.store[of].get(id))!.visibility;
  for (const group of [top, shown, deep]) expect(await visibility('groups', group)).toBe('internal');
  expect(projects.length).toBeGreaterThan(3);
  for (const project of projects) expect(await visibility('projects', project)).toBe('internal');
  expect(await visibility('groups', secret)).toBe('private');
  expect(await visibility('projects', hidden)).toBe('private');
  for (const { id } of [quiet, top, shown, deep])
    for await (const row of opened.store.table.queryAll({ partition: treePartition(id) }))
      expect(row['visibility']).not.toBe('public');
  const page = { viewer: { kind: 'anonymous' }, page: 1, perPage: 100 } as const;
  const listed = (await listProjects(opened.store, page)).items.map(({ project }) => project.id);
  for (const { id } of projects) expect(listed).not.toContain(id);
});

test('two moves of nested groups may be completed in either order', async () => {
  const top = await make('first');
  const inner = await make('inner', top);
  const project = await put('code', inner);
  const renamed = await groups().update(inner, { path: 'within' }, { parents: [top] });
  expect(renamed.movedFrom).toBe('first/inner');
  await groups().update(top, { path: 'second' });
  expect(await moves().moveDescendants(top.id, FAR())).toBe('done');
  expect((await groups().get(inner.id))!).toMatchObject({ fullPath: 'second/within', movedFrom: null });
  for (const path of ['first/inner/code', 'first/within/code', 'second/within/code'])
    expect((await locateProject(deps, path)).id, path).toBe(project.id);
});

test('a move into a path is blocked until the group that left it has moved completely', async () => {
  const one = await make('here');
  await put('same', one);
  await groups().update(one, { path: 'there' });
  const two = await make('two');
  const mine = await put('same', two);
  await groups().update(two, { path: 'here' });
  expect(await moves().moveDescendants(two.id, FAR())).toBe('blocked');
  expect(await moves().moveDescendants(one.id, FAR())).toBe('done');
  expect(await moves().moveDescendants(two.id, FAR())).toBe('done');
  expect((await locateProject(deps, 'here/same')).id).toBe(mine.id);
});

test('concurrent transfers never make two groups ancestors of each other, at any depth', async () => {
  for (let n = 0; n < 4; n++) {
    const [a, b] = [await make(`a${n}`), await make(`b${n}`)];
    const [inA, inB] = [await make('in', a), await make('in', b)];
    const outcomes = await Promise.allSettled([
      groups().update(a, {}, { parents: [inB, b] }),
      groups().update(b, {}, { parents: [inA, a] }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
    for (const group of [a, b]) await moves().moveDescendants(group.id, FAR());
    for (let id: number | null = inA.id, steps = 0; id !== null; steps++) {
      expect(steps).toBeLessThan(5);
      id = (await groups().get(id))!.parentId;
    }
  }
});

test('the content of a deleted group is removed, wherever an earlier run stopped', async () => {
  const { top, inner, projects } = await tree('doomed', 12);
  const guest = await make('guest');
  const share = { groupId: guest.id, accessLevel: 30, expiresAt: null, createdAt: '2026-01-01' } as const;
  const shared = await groups().update(top, { shares: [share] });
  await expect(removeGroupContent(opened.store, top.id, FAR())).rejects.toThrow('not deleted');
  await groups().remove(shared);
  // There is no bucket here.
  Object.assign(opened.store.texts, { removeOf: () => Promise.resolve(false) });
  Object.assign(opened.store.blobs, { list: () => Promise.resolve({ keys: [], more: false }) });
  const real = opened.store.table.delete;
  for (let runs = 1; ; runs++) {
    // A run must end the search rows of one subject, or the next begins with them again.
    let left = 5 + 3 * runs;
    opened.store.table.delete = (...args) => {
      if (left-- === 0) throw new Error('stopped');
      return real.apply(opened.store.table, args);
    };
    const ended = await removeGroupContent(opened.store, top.id, FAR()).catch(() => false);
    opened.store.table.delete = real;
    if (ended) break;
    expect(runs).toBeLessThan(100);
  }
  expect(await removeGroupContent(opened.store, top.id, FAR())).toBe(true);
  for (const { id, fullPath } of [top, ...inner]) {
    expect(await groups().getEvenDeleted(id)).toBeUndefined();
    expect(await groups().holderOfPath(fullPath)).toBeUndefined();
    expect(await below({ id } as GroupRecord)).toEqual([]);
    expect(await opened.store.members.get({ kind: 'group', id }, ada.id)).toBeUndefined();
  }
  for (const { id, fullPath } of projects) {
    expect(await opened.store.projects.get(id)).toBeUndefined();
    expect(await opened.store.projects.holderOfPath(fullPath)).toBeUndefined();
  }
});

test('each moved project enqueues one message with its new path, wherever a run stops; a new name enqueues none', async () => {
  const { top, projects } = await tree('telling', 8);
  const promise = ({ id, fullPath }: ProjectRecord) => message('tests', 'moved', { id, fullPath });
  const promised = async () => {
    const found: [number, string][] = [];
    for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
      for await (const row of opened.store.table.queryAll({ partition: outboxPartition(shard) })) {
        const { id, fullPath } = row['body'] as { id: number; fullPath: string };
        if (row['queue'] === 'tests') found.push([id, fullPath]);
      }
    return found.sort(([a], [b]) => a - b);
  };
  await groups().update(top, { path: 'told' }, { parents: [] });
  const real = opened.store.table.transact;
  for (let ended = ''; ended !== 'done'; ) {
    let left = 5;
    opened.store.table.transact = (...args) => {
      if (left-- === 0) throw new Error('stopped');
      return real.apply(opened.store.table, args);
    };
    // Two at the same time, as when a message is delivered twice.
    const runs = [1, 2].map(() =>
      moves()
        .moveDescendants(top.id, FAR(), promise)
        .catch(() => 'stopped'),
    );
    ended = (await Promise.all(runs)).includes('done') ? 'done' : '';
    opened.store.table.transact = real;
  }
  expect(await promised()).toEqual(projects.map(({ id, fullPath }) => [id, fullPath]));

  const renamed = await groups().update((await groups().get(top.id))!, { name: 'Told' }, { parents: [] });
  expect(await moves().moveDescendants(renamed.id, FAR(), promise)).toBe('done');
  expect(await promised()).toHaveLength(projects.length);
});
