import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessLevel } from '../../../lib/records/members.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import type { Visibility } from '../../../lib/records/visibility.ts';
import { memberWrite } from '../../../lib/store/members/item.ts';
import { toItem } from '../../../lib/store/placement/project-item.ts';
import { Projects } from '../../../lib/store/projects/projects.ts';
import type { ListedProject, ProjectQuery, Viewer } from '../../../lib/store/projects/query.ts';
import { Search } from '../../../lib/store/search/search.ts';
import { Counters } from '../../../lib/store/table/counters.ts';
import type { Write } from '../../../lib/store/table/write.ts';
import { Users } from '../../../lib/store/users/users.ts';
import {
  createProject,
  measured,
  newProject,
  newUser,
  openTestStore,
  type TestStore,
} from '../table/store-fixture.ts';
import { listProjects } from './filters.ts';

type Query = Omit<ProjectQuery, 'filter'>;
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

describe('the list of projects', () => {
  let opened: TestStore;
  let owner: UserRecord;
  let member: UserRecord;
  let stranger: UserRecord;
  const made: ProjectRecord[] = [];
  // index: name, visibility, archived
  const plan: [string, Visibility, boolean][] = [
    ['delta', 'public', false],
    ['Alpha', 'private', false],
    ['charlie', 'internal', false],
    ['bravo', 'public', true],
    ['echo', 'private', false],
    ['alpine', 'internal', true],
    ['foxtrot', 'private', true],
    ['golf', 'public', false],
  ];
  beforeAll(async () => {
    opened = await openTestStore();
    const { users, projects, members, search } = opened.store;
    owner = await users.create(newUser('owner'));
    member = await users.create(newUser('member'));
    stranger = await users.create(newUser('stranger'));
    for (const [i, [name, visibility, archived]] of plan.entries()) {
      const project = newProject(owner, `path-${9 - i}`, visibility, { name, archived });
      made.push(await projects.create(project, { headBranch: 'main', owner, now: at(i) }));
    }
    const join = (i: number, accessLevel: AccessLevel, expiresAt: string | null = null) =>
      members.add({
        source: { kind: 'project', id: made[i]!.id },
        userId: member.id,
        accessLevel,
        createdAt: at(50).toISOString(),
        expiresAt,
        createdById: owner.id,
      });
    await join(1, 20);
    await join(0, 30);
    await join(5, 10);
    await join(4, 40, '2026-01-02');
    made[0] = await projects.update(made[0]!, { description: 'later' }, { now: at(60) });
    await opened.store.table.update(projects.activity(made[2]!.id, at(61)));
    made[2] = (await projects.get(made[2]!.id))!;
    for (const { id } of made) {
      await search.index('project', id, async () => {
        const project = await projects.get(id);
        return project === undefined ? undefined : [project.name, project.path];
      });
    }
  });
  afterAll(() => opened.close());

  const viewers: Record<string, () => Viewer> = {
    anonymous: () => ({ kind: 'anonymous' }),
    stranger: () => ({ kind: 'user', id: stranger.id, internal: true }),
    external: () => ({ kind: 'user', id: member.id, internal: false }),
    member: () => ({ kind: 'user', id: member.id, internal: true }),
    owner: () => ({ kind: 'user', id: owner.id, internal: true }),
    admin: () => ({ kind: 'admin', id: stranger.id }),
  };
  const list = (who: string, query: Partial<Query> = {}) =>
    listProjects(opened.store, { viewer: viewers[who]!(), page: 1, perPage: 20, count: true, ...query });
  const indexes = (items: readonly ListedProject[]) =>
    items.map(({ project }) => made.findIndex((m) => m.id === project.id));

  test.each<[string, Partial<Query>, number[]]>([
    ['anonymous', {}, [7, 3, 0]],
    ['stranger', {}, [7, 5, 3, 2, 0]],
    ['external', {}, [7, 5, 3, 1, 0]],
    ['member', {}, [7, 5, 3, 2, 1, 0]],
    ['owner', {}, [7, 6, 5, 4, 3, 2, 1, 0]],
    ['admin', {}, [7, 6, 5, 4, 3, 2, 1, 0]],
    ['owner', { direction: 'asc' }, [0, 1, 2, 3, 4, 5, 6, 7]],
    ['owner', { order: 'id', direction: 'asc' }, [0, 1, 2, 3, 4, 5, 6, 7]],
    ['owner', { order: 'name', direction: 'asc' }, [1, 5, 3, 2, 0, 4, 6, 7]],
    ['admin', { order: 'name', direction: 'desc' }, [7, 6, 4, 0, 2, 3, 5, 1]],
    ['member', { order: 'path', direction: 'asc' }, [7, 5, 3, 2, 1, 0]],
    ['member', { order: 'updated_at' }, [0, 7, 5, 3, 2, 1]],
    ['member', { order: 'last_activity_at' }, [2, 7, 5, 3, 1, 0]],
    ['admin', { visibility: 'private' }, [6, 4, 1]],
    ['member', { visibility: 'private' }, [1]],
    ['stranger', { visibility: 'private' }, []],
    ['external', { visibility: 'internal' }, [5]],
    ['anonymous', { visibility: 'internal' }, []],
    ['owner', { visibility: 'public' }, [7, 3, 0]],
    ['member', { archived: true }, [5, 3]],
    ['member', { archived: false }, [7, 2, 1, 0]],
    ['owner', { archived: true, visibility: 'private' }, [6]],
    ['member', { membership: true }, [5, 1, 0]],
    ['owner', { membership: true }, [7, 6, 5, 4, 3, 2, 1, 0]],
    ['admin', { membership: true }, []],
    ['member', { owned: true }, []],
    ['owner', { owned: true, archived: false, order: 'name', direction: 'asc' }, [1, 2, 0, 4, 7]],
    ['member', { minAccessLevel: 20 }, [1, 0]],
    ['member', { minAccessLevel: 30 }, [0]],
    ['owner', { minAccessLevel: 50 }, [7, 6, 5, 4, 3, 2, 1, 0]],
    ['anonymous', { minAccessLevel: 10 }, []],
    ['member', { membership: true, visibility: 'internal' }, [5]],
    ['member', { membership: true, archived: true, order: 'name' }, [5]],
    ['owner', { archived: true, order: 'path' }, [3, 5, 6]],
    ['external', { archived: false, order: 'name' }, [7, 0, 1]],
    ['anonymous', { search: 'ALP' }, []],
    ['member', { search: 'ALP' }, [5, 1]],
    ['owner', { search: 'alp', order: 'name', direction: 'asc' }, [1, 5]],
    ['owner', { search: 'path-3' }, [6]],
    ['owner', { search: 'ath' }, [7, 6, 5, 4, 3, 2, 1, 0]],
    ['owner', { search: 'al' }, [5, 1]],
    ['owner', { search: 'lp' }, []],
    ['owner', { search: 'l' }, []],
    ['owner', { search: 'alp', membership: true, archived: true }, [5]],
    ['owner', { where: ({ project }) => project.name.length === 5 }, [3, 1, 0]],
  ])('%s %j', async (who, query, expected) => {
    const page = await list(who, query);
    expect(indexes(page.items)).toEqual(expected);
    expect(page.more).toBe(false);
    expect(page.total).toBe(expected.length);
    // In pages of two, the list has the same projects, each once.
    const paged: number[] = [];
    for (let n = 1; n <= 5; n++) {
      const part = await list(who, { ...query, page: n, perPage: 2 });
      paged.push(...indexes(part.items));
      expect(part.more).toBe(expected.length > n * 2);
      expect(part.total).toBe(expected.length);
    }
    expect(paged).toEqual(expected);
  });

  test('of one user contains the projects visible to the viewer', async () => {
    const of = { ownerId: owner.id };
    expect(indexes((await list('anonymous', of)).items)).toEqual([7, 3, 0]);
    expect(indexes((await list('member', of)).items)).toEqual([7, 5, 3, 2, 1, 0]);
    expect((await list('member', of)).total).toBe(6);
    expect(indexes((await list('admin', of)).items)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
    expect((await list('admin', { ownerId: stranger.id })).items).toEqual([]);
  });

  test('returns the access level of the viewer', async () => {
    const { items } = await list('member', { order: 'id', direction: 'asc' });
    expect(items.map((listed) => listed.level)).toEqual([30, 20, 0, 0, 10, 0]);
  });

  test('is paginated by keyset with lower and upper bounds, in both directions', async () => {
    const ids = made.map((project) => project.id);
    const page = (query: Partial<Query>) => list('owner', { count: false, perPage: 3, ...query });
    const first = await page({ order: 'id', direction: 'asc', idAfter: ids[1]! });
    expect(indexes(first.items)).toEqual([2, 3, 4]);
    expect(first).toMatchObject({ more: true, total: undefined });
    expect(indexes((await page({ order: 'id', idBefore: ids[2]! })).items)).toEqual([1, 0]);
    expect(indexes((await page({ idAfter: ids[1]!, idBefore: ids[3]!, direction: 'asc' })).items)).toEqual([
      2,
    ]);
    expect(indexes((await page({ idAfter: ids[5]!, order: 'name' })).items)).toEqual([7, 6]);
    expect((await page({ idAfter: ids[7]! })).items).toEqual([]);
    expect((await page({ idBefore: 0 })).items).toEqual([]);
  });

  test('is filtered by last activity in any order, without the bounds themselves', async () => {
    const after = at(3).toISOString();
    const before = at(6).toISOString();
    const bounds = { lastActivityAfter: after, lastActivityBefore: before };
    expect(indexes((await list('owner', { ...bounds, order: 'last_activity_at' })).items)).toEqual([5, 4]);
    expect(indexes((await list('owner', { ...bounds, order: 'name' })).items)).toEqual([4, 5]);
    expect(indexes((await list('owner', { lastActivityAfter: at(7).toISOString() })).items)).toEqual([2]);
  });

  test('applies a changed visibility at once, even if the indexes are stale', async () => {
    const project = await createProject(opened.store, owner, 'turning', 'public');
    await new Promise((resolve) => setTimeout(resolve, 20));
    opened.dynamo.faults.indexDelayMs = 60_000;
    const hidden = await opened.store.projects.update(project, { visibility: 'private' });
    const ids = async (who: string) => (await list(who)).items.map((listed) => listed.project.id);
    expect(await ids('anonymous')).not.toContain(project.id);
    expect(await ids('member')).not.toContain(project.id);
    expect(await ids('owner')).toContain(project.id);
    await opened.store.projects.remove(hidden);
    expect(await ids('owner')).not.toContain(project.id);
    opened.dynamo.faults.indexDelayMs = 0;
    expect(await ids('owner')).toHaveLength(8);
  });

  test('finds a renamed project by its new name and no longer by the old one', async () => {
    const { projects, search } = opened.store;
    const project = await createProject(opened.store, owner, 'quebec', 'public');
    const index = () =>
      search.index('project', project.id, async () => {
        const now = await projects.get(project.id);
        return now === undefined ? undefined : [now.name, now.path];
      });
    const find = async (term: string) => (await list('anonymous', { search: term })).items.length;
    await index();
    expect(await find('quebec')).toBe(1);
    const renamed = await projects.update(project, { name: 'romeo', path: 'romeo' });
    expect(await find('quebec')).toBe(0);
    await Promise.all([index(), index(), index()]);
    expect(await find('ome')).toBe(1);
    await projects.remove(renamed);
    expect(await find('romeo')).toBe(0);
    await index();
    const left = await search.find('project', 'romeo');
    expect(left.ids).toEqual([]);
    expect((await search.find('project', 'quebec')).ids).toEqual([]);
  });
});

test('a search with very many matches walks the list and finds the same projects and users', async () => {
  const opened = await openTestStore();
  const { table, names, outbox, members } = opened.store;
  const search = new Search(table, { probe: 4, rows: 8, hits: 6 });
  const counters = new Counters(table);
  const projects = new Projects(table, names, counters, outbox, search, members);
  const users = new Users(table, names, counters, outbox, search);
  const owner = await users.create(newUser('walker0'));
  for (let i = 1; i < 30; i++) {
    const user = await users.create(newUser(i % 3 ? `other${i}` : `walker${i}`, { name: `N ${i}` }));
    await search.index('user', user.id, async () => [user.name, user.username]);
    const path = i % 2 ? `common-${i}` : `rare-${i}`;
    const project = newProject(owner, path, 'public');
    const { id } = await projects.create(project, { headBranch: 'main', owner });
    await search.index('project', id, async () => [path]);
  }
  expect((await search.find('project', 'common')).complete).toBe(false);
  const viewer = { kind: 'anonymous' } as const;
  const odd = Array.from({ length: 15 }, (_, i) => `common-${29 - 2 * i}`);
  const first = await listProjects(opened.store, {
    viewer,
    search: 'COMMON',
    page: 1,
    perPage: 10,
    count: true,
  });
  expect(first.items.map(({ project }) => project.path)).toEqual(odd.slice(0, 10));
  expect(first).toMatchObject({ more: true, total: 15 });
  const second = await listProjects(opened.store, { viewer, search: 'common', page: 2, perPage: 10 });
  expect(second.items.map(({ project }) => project.path)).toEqual(odd.slice(10));
  const third = await users.list({ search: 'other', page: 1, perPage: 100, count: true });
  expect(third.items.map((user) => user.username)).toContain('other28');
  expect(third.total).toBe(20);
  await opened.close();
});

describe('the cost of a page does not grow with the list', () => {
  /** Projects of one owner, written directly to the table: creation itself is tested elsewhere. */
  async function seeded(total: number): Promise<{ opened: TestStore; owner: UserRecord }> {
    const opened = await openTestStore();
    const owner = await opened.store.users.create(newUser('owner'));
    const visibilities = ['public', 'internal', 'private'] as const;
    for (let first = 1; first <= total; first += 50) {
      const writes: Write[] = [];
      for (let id = first; id < first + 50 && id <= total; id++) {
        const when = at(id).toISOString();
        const project: ProjectRecord = {
          ...newProject(owner, `p${id}`, visibilities[id % 3]!),
          id,
          repositoryId: `r${id}`,
          importStatus: 'none',
          importError: null,
          fullPath: `owner/p${id}`,
          createdAt: when,
          updatedAt: when,
          lastActivityAt: when,
          deletedAt: null,
          shares: [],
          version: 1,
        };
        const member = {
          source: { kind: 'project', id } as const,
          userId: owner.id,
          accessLevel: 40 as const,
          createdAt: when,
          expiresAt: null,
          createdById: owner.id,
        };
        writes.push({ put: toItem(project) }, memberWrite(member));
      }
      await opened.store.table.transact(writes);
    }
    return { opened, owner };
  }

  test('keyset pages of 20 need no more reads for 5,000 projects than for 500, at any position', async () => {
    const costs: Record<string, { items: number; requests: number; units: number }[]> = {};
    for (const total of [100, 500, 5000]) {
      const { opened, owner } = await seeded(total);
      const viewers: Viewer[] = [
        { kind: 'anonymous' },
        { kind: 'user', id: owner.id, internal: true },
        { kind: 'user', id: 999, internal: true },
        { kind: 'admin', id: 999 },
      ];
      for (const [i, viewer] of viewers.entries()) {
        const page = (query: Partial<Query>) =>
          measured(opened, () =>
            listProjects(opened.store, { viewer, page: 1, perPage: 20, order: 'id', ...query }),
          );
        const first = await page({ direction: 'desc' });
        const middle = await page({ direction: 'asc', idAfter: Math.floor(total / 2) - 30 });
        for (const [where, cost] of Object.entries({ first, middle })) {
          expect(cost.value.items).toHaveLength(20);
          costs[`${i} ${where}`] ??= [];
          costs[`${i} ${where}`]!.push({ items: cost.items, requests: cost.requests, units: cost.units });
        }
      }
      await opened.close();
    }
    for (const [which, [few, many, most]] of Object.entries(costs)) {
      expect({ which, ...most }).toEqual({ which, ...many });
      // 100 projects do not fill the first read of every partition, but take the same number of requests.
      expect(few!.requests).toBeLessThanOrEqual(most!.requests);
      expect(few!.items).toBeLessThanOrEqual(most!.items);
      expect(most!.items).toBeLessThan(360);
    }
    console.log('keyset page of 20 at 100, 500 and 5,000 projects:', JSON.stringify(costs));
  });

  test('totals, deep offsets and searches with many matches have bounded cost', async () => {
    const { opened, owner } = await seeded(3000);
    const { search } = opened.store;
    const admin = { kind: 'admin', id: 999 } as const;
    const deep = await measured(opened, () =>
      listProjects(opened.store, {
        viewer: admin,
        page: 140,
        perPage: 20,
        order: 'name',
        direction: 'asc',
        count: true,
      }),
    );
    expect(deep.value.items).toHaveLength(20);
    expect(deep.value.total).toBe(3000);
    // Keys up to the page, read once for the page and once for the total, and the items of the page.
    expect(deep.items).toBeLessThan(3000 * 2.5);
    const own = await listProjects(opened.store, {
      viewer: { kind: 'user', id: owner.id, internal: true },
      page: 1,
      perPage: 20,
      count: true,
    });
    expect(own.total).toBe(3000);
    const beyond = listProjects(opened.store, { viewer: admin, page: 2502, perPage: 20 });
    await expect(beyond).rejects.toMatchObject({ code: 'bad-page' });
    const filtered = await measured(opened, () =>
      listProjects(opened.store, { viewer: admin, page: 1, perPage: 20, where: () => false, count: true }),
    );
    expect(filtered.value).toMatchObject({ items: [], total: 0, more: false });
    for (let id = 1; id <= 300; id++) await search.index('project', id, async () => ['common', `p${id}`]);
    const hits = await measured(opened, () => search.find('project', 'common'));
    expect(hits.value.ids).toHaveLength(300);
    expect(hits.value.complete).toBe(true);
    expect(hits.requests).toBeLessThan(8);
  });
});
