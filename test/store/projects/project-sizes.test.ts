import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import type { ProjectOrder, ProjectQuery } from '../../../lib/store/projects/query.ts';
import { createProject, measured, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';
import { listProjects } from './filters.ts';

let opened: TestStore;
let owner: UserRecord;
const made: ProjectRecord[] = [];

/** Bytes of repository, wiki, packages; null: never measured. */
type Sizes = readonly [number, number, number] | null;
const plan: readonly (readonly ['public' | 'private', Sizes])[] = [
  ['public', [100, 0, 0]],
  ['private', [0, 50, 0]],
  ['public', null],
  ['private', [300, 7, 20]],
  ['public', [0, 0, 90]],
  ['private', [0, 0, 0]],
  ['public', [100, 7, 0]],
];

beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('owner'));
  for (const [i, [visibility, sizes]] of plan.entries()) {
    made.push(await createProject(opened.store, owner, `p${i}`, visibility));
    if (sizes !== null) await measure(i, sizes);
  }
});
afterAll(() => opened.close());

async function measure(
  i: number,
  [repositorySize, wikiSize, packagesSize]: readonly [number, number, number],
) {
  const { statistics } = opened.store;
  const { id } = made[i]!;
  const sizes = { repositorySize, wikiSize, packagesSize };
  const rest = { head: null, commitCount: 0, languages: {}, countedIn: null };
  await statistics.save(id, await statistics.ofProject(id), { ...sizes, ...rest });
}

const list = (order: ProjectOrder, direction: 'asc' | 'desc', more: Partial<ProjectQuery> = {}) =>
  listProjects(opened.store, {
    ...{ viewer: { kind: 'admin', id: 999 }, page: 1, perPage: 20, count: true, order, direction },
    ...more,
  });
const indexes = ({ items }: Awaited<ReturnType<typeof list>>) =>
  items.map(({ project }) => made.findIndex(({ id }) => id === project.id));

const rising: readonly (readonly [ProjectOrder, readonly number[]])[] = [
  ['repository_size', [1, 2, 4, 5, 0, 6, 3]],
  ['wiki_size', [0, 2, 4, 5, 3, 6, 1]],
  ['packages_size', [0, 1, 2, 5, 6, 3, 4]],
  ['storage_size', [2, 5, 1, 4, 0, 6, 3]],
];

test.each(rising)('%s sorts all projects, those without it as the smallest', async (order, expected) => {
  for (const direction of ['asc', 'desc'] as const) {
    const wanted = direction === 'asc' ? expected : expected.toReversed();
    const whole = await list(order, direction);
    expect(indexes(whole)).toEqual(wanted);
    expect(whole).toMatchObject({ total: 7, more: false });
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(order, direction, { page, perPage: 2 })));
    expect(pages.flatMap(indexes)).toEqual(wanted);
    expect(pages.map(({ more }) => more)).toEqual([true, true, true, false]);
  }
});

test.each(rising)('%s goes with every filter', async (order, expected) => {
  const isPublic = (i: number) => plan[i]![0] === 'public';
  const ids = made.map(({ id }) => id);
  for (const [direction, wanted] of [
    ['asc', expected],
    ['desc', expected.toReversed()],
  ] as const) {
    const open = await list(order, direction, { visibility: 'public' });
    expect(indexes(open)).toEqual(wanted.filter(isPublic));
    expect(open.total).toBe(4);
    expect(indexes(await list(order, direction, { archived: true }))).toEqual([]);
    const among = new Set([ids[1]!, ids[3]!, ids[5]!]);
    expect(indexes(await list(order, direction, { among }))).toEqual(wanted.filter((i) => i % 2 === 1));
    expect(indexes(await list(order, direction, { ownerId: owner.id }))).toEqual(wanted);
    const where: ProjectQuery['where'] = ({ project }) => project.id !== ids[3];
    expect(indexes(await list(order, direction, { where }))).toEqual(wanted.filter((i) => i !== 3));
    const after = await list(order, direction, { idAfter: ids[2]! });
    expect(indexes(after)).toEqual(wanted.filter((i) => i > 2));
  }
});

test('a project moves as it is measured, and is gone with its deletion', async () => {
  await measure(1, [0, 0, 0]);
  await measure(5, [0, 60, 0]);
  expect(indexes(await list('wiki_size', 'desc')).slice(0, 3)).toEqual([5, 6, 3]);
  expect(indexes(await list('wiki_size', 'asc'))).toEqual([0, 1, 2, 4, 3, 6, 5]);
  expect(indexes(await list('storage_size', 'asc')).slice(0, 4)).toEqual([1, 2, 5, 4]);
  // Of a repository that is filled, too.
  await measure(5, [1, 60, 0]);
  expect(indexes(await list('storage_size', 'asc')).slice(0, 4)).toEqual([1, 2, 5, 4]);
  await opened.store.projects.remove(made[5]!);
  await opened.store.statistics.forget(made[5]!.id);
  expect(indexes(await list('wiki_size', 'desc'))).toEqual([6, 3, 4, 2, 1, 0]);
  const { id } = made[5]!;
  const rows = opened.store.table.queryAll({
    partition: `PROJECT#${String(id).padStart(12, '0')}`,
    prefix: 'SIZE#',
  });
  for await (const row of rows) expect(row).toBeUndefined();
  await measure(1, [0, 50, 0]);
});

test('a page reads no more for more projects in front of it', async () => {
  const cost = async (direction: 'asc' | 'desc') =>
    (await measured(opened, () => list('wiki_size', direction, { perPage: 2, count: false }))).requests;
  const before = [await cost('asc'), await cost('desc')];
  for (let i = 0; i < 60; i++) {
    made.push(await createProject(opened.store, owner, `more${i}`, 'public'));
    if (i % 2 === 0) await measure(made.length - 1, [1, 1000 + i, 0]);
  }
  expect([await cost('asc'), await cost('desc')]).toEqual(before);
});

test('statistics of an earlier release are sorted when they are measured again', async () => {
  const { statistics, table } = opened.store;
  const i = made.push(await createProject(opened.store, owner, 'earlier', 'public')) - 1;
  await measure(i, [5, 5000, 0]);
  const pk = `PROJECT#${String(made[i]!.id).padStart(12, '0')}`;
  await table.delete({ delete: { pk, sk: 'SIZE#wikiSize' } });
  await table.update({ update: { pk, sk: 'STATISTICS' }, remove: ['storageSize'] });
  expect(indexes(await list('wiki_size', 'desc'))[0]).not.toBe(i);
  expect((await statistics.ofProject(made[i]!.id))!.storageSize).toBeUndefined();
  await measure(i, [5, 5000, 0]);
  expect(indexes(await list('wiki_size', 'desc'))[0]).toBe(i);
});
