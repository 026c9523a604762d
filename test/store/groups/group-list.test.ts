import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { AccessLevel } from '../../../lib/records/members.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import type { Visibility } from '../../../lib/records/visibility.ts';
import type { GroupQuery, ListedGroup } from '../../../lib/store/groups/list.ts';
import { memberWrite } from '../../../lib/store/members/item.ts';
import { placementUnder } from '../../../lib/store/placement/group.ts';
import { groupItem } from '../../../lib/store/placement/group-item.ts';
import { treeRows } from '../../../lib/store/placement/tree.ts';
import type { Viewer } from '../../../lib/store/projects/query.ts';
import { treeKey } from '../../../lib/store/row-keys/groups.ts';
import { claim } from '../../../lib/store/table/unique-names.ts';
import type { Write } from '../../../lib/store/table/write.ts';
import { listGroups, listProjects } from '../projects/filters.ts';
import { measured, newProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

type Query = Partial<Omit<GroupQuery, 'filter' | 'viewer'>>;

/** Stores a group with its rows; creation itself is tested elsewhere. */
function groupWrites(
  id: number,
  path: string,
  visibility: Visibility,
  parent?: GroupRecord,
): { group: GroupRecord; writes: Write[] } {
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, id)).toISOString();
  const group: GroupRecord = {
    id,
    name: `Name ${path}`,
    path,
    ...placementUnder(parent, { name: `Name ${path}`, path }),
    visibility,
    description: '',
    creatorId: null,
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
    movedFrom: null,
    shares: [],
    settings: {},
    version: 1,
  };
  return {
    group,
    writes: [
      { put: groupItem(group) },
      claim('path', group.fullPath, { type: 'group', id }, 'path'),
      ...treeRows({ kind: 'group', ...group }),
    ],
  };
}

const memberOf = (id: number, userId: number, accessLevel: AccessLevel, expiresAt: string | null = null) =>
  memberWrite({
    source: { kind: 'group', id },
    userId,
    accessLevel,
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt,
    createdById: null,
  });

describe('the list of groups', () => {
  let opened: TestStore;
  let member: UserRecord;
  const made: Record<string, GroupRecord> = {};
  // `of`: below which
  const plan: [name: string, visibility: Visibility, of?: string][] = [
    ['pub', 'public'],
    ['mine', 'private', 'pub'],
    ['theirs', 'private', 'pub'],
    ['open', 'public', 'pub'],
    ['int', 'internal'],
    ['priv', 'private'],
    ['x', 'private', 'priv'],
    ['deep', 'private', 'x'],
    ['aside', 'private', 'priv'],
    ['shared', 'private'],
    ['inshared', 'private', 'shared'],
    ['over', 'private'],
    ['lapsed', 'private'],
  ];
  beforeAll(async () => {
    opened = await openTestStore();
    const { table, users, groups, search } = opened.store;
    member = await users.create(newUser('member'));
    for (const [i, [name, visibility, of]] of plan.entries()) {
      const { group, writes } = groupWrites(
        100 - i,
        name,
        visibility,
        of === undefined ? undefined : made[of],
      );
      made[name] = group;
      await table.transact(writes);
    }
    await table.transact([
      memberOf(made['mine']!.id, member.id, 20),
      memberOf(made['x']!.id, member.id, 50),
      memberOf(made['over']!.id, member.id, 40, '2026-01-02'),
    ]);
    const invite = async (name: string, expiresAt: string | null) => {
      const shares = [{ groupId: made['x']!.id, accessLevel: 30 as const, expiresAt, createdAt: '' }];
      made[name] = await groups.update(made[name]!, { shares });
      await table.put({ put: treeKey(made['x']!.id, 'SHARED', 'group', made[name]!.id) as never });
    };
    await invite('shared', null);
    await invite('lapsed', '2026-01-02');
    for (const { id } of Object.values(made)) {
      await search.index('group', id, async () => {
        const group = await groups.get(id);
        return group && [group.name, group.path];
      });
    }
  });
  afterAll(() => opened.close());

  const viewers: Record<string, () => Viewer> = {
    anonymous: () => ({ kind: 'anonymous' }),
    stranger: () => ({ kind: 'user', id: 9999, internal: true }),
    external: () => ({ kind: 'user', id: 9999, internal: false }),
    member: () => ({ kind: 'user', id: member.id, internal: true }),
    admin: () => ({ kind: 'admin', id: 9999 }),
  };
  const list = (who: string, query: Query) =>
    listGroups(opened.store, {
      viewer: viewers[who]!(),
      page: 1,
      perPage: 20,
      count: true,
      all: true,
      ...query,
    });
  const namesOf = (items: readonly ListedGroup[]) => items.map(({ group }) => group.path).join(' ');
  const below = (of: string, deep: boolean, open: boolean) => () => ({
    below: { id: made[of]!.id, deep, open },
  });

  const everything = 'aside deep inshared int lapsed mine open over priv pub shared theirs x';
  const members = 'deep inshared int mine open priv pub shared x';
  test.each<[string, Query | (() => Query), string]>([
    ['anonymous', {}, 'open pub'],
    ['external', {}, 'open pub'],
    ['stranger', {}, 'int open pub'],
    ['member', {}, members],
    ['admin', {}, everything],
    ['stranger', { all: false }, ''],
    ['admin', { all: false }, ''],
    // `pub` is the parent of `mine`, `priv` that of `x`: both are visible because of a visible descendant.
    ['member', { all: false }, 'deep inshared mine priv pub shared x'],
    ['member', { direction: 'desc' }, members.split(' ').reverse().join(' ')],
    ['member', { order: 'id' }, 'inshared shared deep x priv int open mine pub'],
    ['member', { order: 'id', direction: 'desc', all: false }, 'pub mine priv x deep shared inshared'],
    ['member', { order: 'path', all: false }, 'deep inshared mine priv pub shared x'],
    ['member', { owned: true }, 'x'],
    ['member', { direct: true }, 'mine x'],
    ['member', { minAccessLevel: 50 }, 'deep x'],
    ['member', { minAccessLevel: 30 }, 'deep inshared shared x'],
    ['member', { minAccessLevel: 10, all: false }, 'deep inshared mine shared x'],
    ['stranger', { minAccessLevel: 10 }, ''],
    ['member', { topLevelOnly: true }, 'int priv pub shared'],
    ['member', () => ({ skip: [made['int']!.id, made['x']!.id] }), 'deep inshared mine open priv pub shared'],
    ['stranger', { search: 'shared' }, ''],
    ['member', { search: 'SHARED' }, 'inshared shared'],
    ['member', { search: 'in' }, 'inshared int'],
    ['member', { search: 'name', owned: true }, 'x'],
    ['admin', { search: 'name' }, everything],
    ['stranger', below('pub', false, false), 'open'],
    ['member', below('pub', false, false), 'mine open'],
    ['member', () => ({ ...below('pub', false, false)(), all: false }), 'mine'],
    ['admin', below('pub', false, true), 'mine open theirs'],
    ['member', below('x', false, true), 'deep'],
    ['member', () => ({ ...below('x', false, true)(), owned: true }), ''],
    ['admin', below('priv', true, true), 'aside deep x'],
    ['admin', below('priv', false, true), 'aside x'],
    ['member', below('priv', true, false), 'deep x'],
    ['member', () => ({ ...below('priv', true, false)(), search: 'ee' }), ''],
    ['member', () => ({ ...below('priv', true, false)(), search: 'deep' }), 'deep'],
  ])('%s %j', async (who, asked, expected) => {
    const query = typeof asked === 'function' ? asked() : asked;
    const page = await list(who, query);
    expect(namesOf(page.items)).toBe(expected);
    const names = expected === '' ? [] : expected.split(' ');
    expect(page).toMatchObject({ more: false, total: names.length });
    // By page number and by keyset, two at a time: each once.
    const [byNumber, byPlace]: string[][] = [[], []];
    for (let n = 1; n <= names.length; n++) {
      const part = await list(who, { ...query, page: n, perPage: 2 });
      byNumber!.push(...namesOf(part.items).split(' ').filter(Boolean));
      expect(part.more).toBe(names.length > n * 2);
      expect(part.total).toBe(names.length);
    }
    for (let after: Query = {}, n = 0; n <= names.length; n++) {
      const part = await list(who, { ...query, ...after, perPage: 2, count: false });
      byPlace!.push(...namesOf(part.items).split(' ').filter(Boolean));
      if (part.last === undefined) break;
      after = { after: part.last };
    }
    expect({ byNumber, byPlace }).toEqual({ byNumber: names, byPlace: names });
  });

  test('returns the access level, inherited or by invitation', async () => {
    const { items } = await list('member', { all: false });
    expect(items.map(({ level }) => level)).toEqual([50, 30, 20, 0, 0, 30, 50]);
  });

  test('applies a reduced visibility and an ended membership at once', async () => {
    const { group, writes } = groupWrites(500, 'zz', 'public');
    await opened.store.table.transact([...writes, memberOf(500, member.id, 30)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    opened.dynamo.faults.indexDelayMs = 60_000;
    await opened.store.groups.update(group, { visibility: 'private' });
    expect(namesOf((await list('anonymous', {})).items)).toBe('open pub');
    expect(namesOf((await list('member', { all: false })).items)).toContain('zz');
    await opened.store.members.remove({ kind: 'group', id: 500 }, member.id);
    expect(namesOf((await list('member', {})).items)).toBe(members);
    opened.dynamo.faults.indexDelayMs = 0;
  });

  test('does not contain descendants of a deleted group', async () => {
    const gone = groupWrites(501, 'gone', 'public');
    const inside = groupWrites(502, 'zzz', 'public', gone.group);
    await opened.store.table.transact([...gone.writes, ...inside.writes, memberOf(502, member.id, 50)]);
    expect(namesOf((await list('anonymous', {})).items)).toBe('gone open pub zzz');
    await opened.store.groups.remove(gone.group);
    expect(namesOf((await list('anonymous', {})).items)).toBe('open pub');
    expect(namesOf((await list('member', {})).items)).toBe(members);
    expect(namesOf((await list('member', { owned: true })).items)).toBe('x');
    expect(namesOf((await list('admin', {})).items)).toBe(`${everything} zz`);
  });

  test('shows members of an ancestor the projects of its groups, in any order', async () => {
    const { projects } = opened.store;
    const owner = await opened.store.users.create(newUser('owner'));
    for (const [i, of] of ['deep', 'x', 'theirs', 'inshared', 'open'].entries()) {
      const group = made[of]!;
      const place = {
        namespaceId: group.id,
        namespacePath: group.fullPath,
        namespaceName: group.name,
        namespaceKind: 'group' as const,
        ancestorIds: [...group.ancestorIds, group.id],
      };
      const visibility = of === 'open' ? 'public' : 'private';
      const project = newProject(owner, `of-${of}`, visibility, { ...place, name: `P${5 - i}` });
      await projects.create(project, { headBranch: 'main', owner, member: false, parent: group });
    }
    const paths = async (who: string, query: object = {}) => {
      const asked = { viewer: viewers[who]!(), page: 1, perPage: 20, count: true, ...query };
      const page = await listProjects(opened.store, asked);
      expect(page.total).toBe(page.items.length);
      return page.items.map(({ project }) => project.path).join(' ');
    };
    expect(await paths('anonymous')).toBe('of-open');
    expect(await paths('stranger')).toBe('of-open');
    expect(await paths('member')).toBe('of-open of-inshared of-x of-deep');
    expect(await paths('member', { order: 'name', direction: 'asc' })).toBe(
      'of-open of-inshared of-x of-deep',
    );
    expect(await paths('member', { membership: true })).toBe('of-inshared of-x of-deep');
    expect(await paths('member', { owned: true })).toBe('of-x of-deep');
    expect(await paths('member', { minAccessLevel: 30 })).toBe('of-inshared of-x of-deep');
    expect(await paths('member', { visibility: 'private', archived: false })).toBe(
      'of-inshared of-x of-deep',
    );
    expect(await paths('admin')).toBe('of-open of-inshared of-theirs of-x of-deep');
    const inGroup = (of: string, open: boolean, deep = true) => ({
      inGroup: { id: made[of]!.id, deep, open, shared: true },
    });
    expect(await paths('member', inGroup('x', true))).toBe('of-x of-deep');
    expect(await paths('member', inGroup('x', true, false))).toBe('of-x');
    expect(await paths('member', { ...inGroup('x', true), order: 'path', direction: 'asc' })).toBe(
      'of-deep of-x',
    );
    expect(await paths('member', { ...inGroup('x', true), archived: true })).toBe('');
    expect(await paths('member', inGroup('pub', false))).toBe('of-open');
    expect(await paths('admin', inGroup('pub', true))).toBe('of-open of-theirs');
    expect(await paths('stranger', inGroup('pub', false))).toBe('of-open');
  });

  test('contains the groups of a project for its members, as long as they are members', async () => {
    const { projects, users, members: memberships } = opened.store;
    const guest = await users.create(newUser('guest'));
    const owner = (await users.byUsername('owner'))!;
    const group = made['inshared']!;
    const { id } = await projects.create(
      newProject(owner, 'visited', 'private', {
        namespaceId: group.id,
        namespacePath: group.fullPath,
        namespaceKind: 'group',
        ancestorIds: [...group.ancestorIds, group.id],
      }),
      { headBranch: 'main', member: false, parent: group },
    );
    const source = { kind: 'project', id } as const;
    const visit = { source, userId: guest.id, accessLevel: 10, createdAt: '', createdById: null } as const;
    await memberships.add({ ...visit, expiresAt: null });
    const viewer = { kind: 'user', id: guest.id, internal: false } as const;
    const seen = async (query: Partial<Query>) =>
      namesOf((await listGroups(opened.store, { viewer, page: 1, perPage: 20, all: false, ...query })).items);
    expect(await seen({})).toBe('inshared shared');
    expect(await seen({ order: 'id' })).toBe('inshared shared');
    expect(await seen({ all: true })).toBe('inshared open pub shared');
    expect(await seen({ minAccessLevel: 10 })).toBe('');
    expect(await seen({ direct: true })).toBe('');
    await memberships.remove(source, guest.id);
    expect(await seen({})).toBe('');
  });
});

test('a page of groups costs the same among 100 groups and among 5,000', async () => {
  const costs: Record<string, object[]> = {};
  for (const total of [100, 5000]) {
    const opened = await openTestStore();
    const top = groupWrites(1, 'top', 'public');
    const own = groupWrites(2, 'own', 'private');
    await opened.store.table.transact([...top.writes, ...own.writes, memberOf(2, 7, 30)]);
    for (let first = 3; first <= total; first += 20) {
      const writes: Write[] = [];
      for (let id = first; id < first + 20 && id <= total; id++) {
        const visibility = (['public', 'internal', 'private'] as const)[id % 3]!;
        // Most are top-level, some are subgroups; the same number of each kind in either table.
        const parent = id < 60 ? (id % 2 === 0 ? own.group : top.group) : undefined;
        writes.push(...groupWrites(id, `g${String(id).padStart(5, '0')}`, visibility, parent).writes);
      }
      await opened.store.table.transact(writes);
    }
    const viewers: Record<string, Viewer> = {
      anonymous: { kind: 'anonymous' },
      stranger: { kind: 'user', id: 8, internal: true },
      member: { kind: 'user', id: 7, internal: true },
      admin: { kind: 'admin', id: 9 },
    };
    for (const [who, viewer] of Object.entries(viewers)) {
      for (const [what, query] of Object.entries<Query>({
        all: { all: true },
        own: { all: false },
        inside: { all: true, order: 'id', below: { id: 2, deep: true, open: true } },
      })) {
        const asked = { viewer, page: 1, perPage: 5, all: true, ...query };
        const { items, requests, units } = await measured(opened, () => listGroups(opened.store, asked));
        costs[`${who} ${what}`] ??= [];
        costs[`${who} ${what}`]!.push({ items, requests, units });
      }
    }
    await opened.close();
  }
  console.log('page of 5 among 100 and 5,000 groups:', JSON.stringify(costs));
  for (const [which, [few, many]] of Object.entries(costs)) {
    expect({ which, ...many }).toEqual({ which, ...few });
  }
});
