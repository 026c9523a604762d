/** Lists of projects and groups by similarity of name, and by name of their namespace. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { Visibility } from '../../../lib/records/visibility.ts';
import type { ProjectQuery, Viewer } from '../../../lib/store/projects/query.ts';
import { similarity } from '../../../lib/store/search/relevance.ts';
import { listGroups, listProjects } from '../projects/filters.ts';
import { newProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let ownerId: number;
const anonymous = { kind: 'anonymous' } as const;

beforeAll(async () => {
  opened = await openTestStore();
  const { users, groups, projects, search } = opened.store;
  const owner = await users.create(newUser('lemon', { name: 'Tree Keeper' }));
  ownerId = owner.id;
  await search.index('user', owner.id, async () => [owner.name, owner.username]);
  const group = async (name: string, visibility: Visibility, parent?: GroupRecord) => {
    const about = { name, path: name, visibility, description: '', creatorId: owner.id, settings: {} };
    const made = await groups.create(about, {
      ownerId: owner.id,
      ...(parent === undefined ? {} : { parent }),
    });
    await search.index('group', made.id, async () => [made.name, made.path]);
    return made;
  };
  const project = async (path: string, visibility: Visibility, parent?: GroupRecord) => {
    const place =
      parent === undefined
        ? {}
        : {
            namespaceId: parent.id,
            namespacePath: parent.fullPath,
            namespaceName: parent.fullName,
            namespaceKind: 'group' as const,
            ancestorIds: [...parent.ancestorIds, parent.id],
          };
    const { id } = await projects.create(newProject(owner, path, visibility, place), {
      headBranch: 'main',
      ...(parent === undefined ? { owner } : { parent }),
    });
    await search.index('project', id, async () => [path]);
  };
  const fruit = await group('fruit', 'public');
  const citrus = await group('citrus', 'public', fruit);
  await group('citrus-peel', 'public');
  await group('no-citrus', 'public');
  await project('citrus', 'public');
  await project('ripe-citrus', 'public', fruit);
  await project('squeezer', 'public', citrus);
  await project('secret', 'private', citrus);
  await project('citruses', 'public', fruit);
  await project('xcitrusx', 'public');
});
afterAll(() => opened.close());

const owner = (): Viewer => ({ kind: 'user', id: ownerId, internal: true });
const find = async (query: Partial<ProjectQuery>, viewer: Viewer = anonymous) => {
  const page = await listProjects(opened.store, { viewer, page: 1, perPage: 20, count: true, ...query });
  expect(page.total).toBe(page.items.length);
  return page.items.map(({ project }) => project.path).join(' ');
};

test.each([
  ['citrus', { name: 'Juice', path: 'CITRUS' }, 4],
  ['Citrus ', { name: 'citrus press', path: 'press' }, 3],
  ['citrus', { name: 'A citrus', path: 'a' }, 2],
  ['citrus', { name: 'a', path: 'no_citrus' }, 2],
  ['citrus', { name: 'a', path: 'xcitrus' }, 1],
  ['citrus press', { name: 'press of citrus', path: 'a' }, 0],
])('the similarity rank of %s to %o is %i', (term, named, rank) =>
  expect(similarity(term, named)).toBe(rank),
);

test('exact names come first, then names with that prefix, then the newest', async () => {
  const order = 'similarity';
  expect(await find({ search: 'citrus', order })).toBe('citrus citruses ripe-citrus xcitrusx');
  expect(await find({ search: 'citrus', order, direction: 'asc' })).toBe(
    'citrus citruses ripe-citrus xcitrusx',
  );
  expect(await find({ search: 'citrus' })).toBe('xcitrusx citruses ripe-citrus citrus');
  expect(await find({ order })).toBe('xcitrusx citruses squeezer ripe-citrus citrus');
  const groups = await listGroups(opened.store, {
    viewer: anonymous,
    all: true,
    search: 'citrus',
    order,
    page: 1,
    perPage: 20,
  });
  expect(groups.items.map(({ group }) => group.path)).toEqual(['citrus', 'citrus-peel', 'no-citrus']);
});

test('a search term may match the namespace of projects', async () => {
  const searchNamespaces = true;
  expect(await find({ search: 'squeezer' })).toBe('squeezer');
  expect(await find({ search: 'fruit' })).toBe('');
  expect(await find({ search: 'fruit', searchNamespaces })).toBe('citruses squeezer ripe-citrus');
  expect(await find({ search: 'fruit', searchNamespaces }, owner())).toBe(
    'citruses secret squeezer ripe-citrus',
  );
  expect(await find({ search: 'FRUIT/Citrus/', searchNamespaces })).toBe('squeezer');
  expect(await find({ search: 'fruit squeez', searchNamespaces })).toBe('squeezer');
  expect(await find({ search: 'keeper', searchNamespaces })).toBe('xcitrusx citrus');
  expect(await find({ search: 'lemon/citrus', searchNamespaces, order: 'similarity' })).toBe('citrus');
  expect(await find({ search: '/', searchNamespaces })).toBe('');
  expect(await find({ search: 'keeper', searchNamespaces, membership: true }, owner())).toBe(
    'xcitrusx citrus',
  );
});
