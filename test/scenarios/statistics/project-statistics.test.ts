import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cachedSettings } from '../../../lib/domain/settings/current.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { HistoryCache } from '../../../lib/git/history/known.ts';
import { PackCache } from '../../../lib/git/pack/pack-cache.ts';
import { outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, service, world, root, someone } = ownWorld();
const git = new GitCli();
afterAll(() => git[Symbol.dispose]());
let group: number;
beforeAll(async () => {
  group = (await as('owner', 'POST', '/groups', { name: 'sized', path: 'sized' })).body.id;
  await commit(world.ids['private']!, {
    'a.ts': 'x'.repeat(600),
    'b.py': 'y'.repeat(300),
    'c.sh': 'z'.repeat(100),
  });
  await measure(world.ids['private']!);
});

const deps = () => ({
  store: world.store,
  packs: new PackCache(),
  histories: new HistoryCache(),
  settings: cachedSettings(world.store.settings, world.store.environment),
  environment: world.store.environment,
  now: () => new Date(),
});
const measure = (projectId: number, id = 'one') =>
  runJob(deps(), { id, type: 'project.measure', body: { projectId } });

async function commit(id: number, files: Record<string, string | null>): Promise<void> {
  const actions = Object.entries(files).map(([file_path, content]) =>
    content === null ? { action: 'delete', file_path } : { action: 'create', file_path, content },
  );
  const json = { branch: 'main', commit_message: 'c', actions };
  const { status, body } = await as('owner', 'POST', `/projects/${id}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
}
const statistics = async (id: number, who: Who = 'owner') =>
  (await as(who, 'GET', `/projects/${id}?statistics=true`)).body.statistics;
const languages = async (id: number) => (await as('owner', 'GET', `/projects/${id}/languages`)).body;
test('the packs of its wiki count for a project, and for its group', async () => {
  const of = (await as('owner', 'POST', '/groups', { name: 'wikied', path: 'wikied' })).body.id;
  const { id } = (await as('owner', 'POST', '/projects', { name: 'book', namespace_id: of })).body;
  const sizes = async () => (await as('owner', 'GET', `/projects/${id}?statistics=true`)).body.statistics;
  await measure(id, 'before the wiki');
  expect(await sizes()).toMatchObject({ wiki_size: 0, storage_size: 0 });
  await as('owner', 'POST', `/projects/${id}/wikis`, { title: 'home', content: 'text' });
  expect(await promised(id)).toBeGreaterThan(0);
  await measure(id, 'after the wiki');
  const { wiki_size, storage_size, repository_size } = await sizes();
  expect(wiki_size).toBeGreaterThan(0);
  expect([repository_size, storage_size]).toEqual([0, wiki_size]);
  const groups = (await as('administrator', 'GET', '/groups?statistics=true&search=wikied')).body;
  expect(groups[0].statistics).toMatchObject({ wiki_size, storage_size: wiki_size });
});

test('the files of its packages count for a project, and for its group', async () => {
  const of = (await as('owner', 'POST', '/groups', { name: 'packed', path: 'packed' })).body.id;
  const { id } = (await as('owner', 'POST', '/projects', { name: 'packed', namespace_id: of })).body;
  const file = `/projects/${id}/packages/generic/tool/1.0/tool.bin`;
  const { status } = await service.call('PUT', file, { token: world.tokens.owner!, raw: 'x'.repeat(1234) });
  expect(status).toBe(201);
  expect(await promised(id)).toBeGreaterThan(0);
  await measure(id);
  expect(await statistics(id)).toMatchObject({ packages_size: 1234, storage_size: 1234 });
  const groups = (await as('administrator', 'GET', '/groups?statistics=true&search=packed')).body;
  expect(groups[0].statistics).toMatchObject({ packages_size: 1234, storage_size: 1234 });
});

describe('the repositories of its snippets count for a project', () => {
  const files = [{ file_path: 'a.txt', content: 'one\n' }];
  let count = 0;
  async function shelf() {
    const name = `shelf-${++count}`;
    const of = (await as('owner', 'POST', '/groups', { name, path: name })).body.id;
    const { id } = (await as('owner', 'POST', '/projects', { name, namespace_id: of })).body;
    return { id: id as number, name, path: `/projects/${id}/snippets` };
  }
  const written = async (path: string, who: Who = 'owner') => {
    const json = { title: 'x', visibility: 'private', files };
    const { status, body } = await as(who, 'POST', path, json);
    expect(status, JSON.stringify(body)).toBe(201);
    return body as { id: number; http_url_to_repo: string };
  };
  /** Runs what the writes have scheduled. */
  const sizeOf = async (id: number): Promise<number> => {
    await settled();
    await measure(id);
    return (await statistics(id)).snippets_size;
  };
  const sizeOfGroup = async (name: string) =>
    (await as('administrator', 'GET', `/groups?statistics=true&search=${name}`)).body[0].statistics;
  const measureSnippet = (snippetId: number, id = 'one') =>
    runJob(deps(), { id, type: 'snippet.measure', body: { snippetId } });

  test('as they are created, changed and deleted, and for its group', async () => {
    const { id, name, path } = await shelf();
    const one = await written(path);
    const first = await sizeOf(id);
    // The pack and its index: a blob, a tree, a commit.
    expect(first).toBeGreaterThan(1000);
    expect(await statistics(id)).toMatchObject({ storage_size: first, repository_size: 0 });
    expect(await sizeOfGroup(name)).toMatchObject({ snippets_size: first, storage_size: first });
    const other = await written(path);
    const both = await sizeOf(id);
    // The times in the commits decide about a byte.
    const kept = (await world.store.snippets.get(other.id))!.repositorySize!;
    expect(both).toBe(first + kept);
    const changed = { files: [{ action: 'update', file_path: 'a.txt', content: 'two\n' }] };
    expect((await as('owner', 'PUT', `${path}/${one.id}`, changed)).status).toBe(200);
    const second = await sizeOf(id);
    expect(second).toBeGreaterThan(both);
    expect((await as('owner', 'DELETE', `${path}/${one.id}`)).status).toBe(204);
    expect(await promised(id)).toBeGreaterThan(0);
    expect(await sizeOf(id)).toBe(kept);
    expect(await sizeOfGroup(name)).toMatchObject({ snippets_size: kept, storage_size: kept });
  });

  test('as they are pushed to', async () => {
    const { id, path } = await shelf();
    const { http_url_to_repo } = await written(path);
    const first = await sizeOf(id);
    const at = http_url_to_repo.slice(service.url.length + 1).replace(/\.git$/, '');
    const work = await git.clone(withToken(service.url, at, world.tokens['owner']!), 'pushed');
    await writeFile(join(work, 'a.txt'), 'one\ntwo\n');
    await git.ok(work, 'commit', '--quiet', '-am', 'Longer');
    await git.ok(work, 'push', 'origin', 'main');
    expect(await sizeOf(id)).toBeGreaterThan(first);
  });

  test('once, however often they are measured, also at once or late', async () => {
    const { id, path } = await shelf();
    const { id: snippetId } = await written(path);
    await Promise.all([1, 2, 3, 4].map((n) => measureSnippet(snippetId, `${n}`)));
    const first = await sizeOf(id);
    expect(first).toBe((await world.store.snippets.get(snippetId))!.repositorySize);
    const row = await world.store.snippets.get(snippetId);
    await measureSnippet(snippetId);
    expect(await world.store.snippets.get(snippetId)).toEqual(row);
    await as('owner', 'DELETE', `${path}/${snippetId}`);
    await measureSnippet(snippetId, 'late');
    expect(await sizeOf(id)).toBe(0);
  });

  test('and no longer when everything is deleted that their author wrote', async () => {
    const { id, path } = await shelf();
    const author = await someone();
    const member = { user_id: author.id, access_level: 30 };
    await as('owner', 'POST', `/projects/${id}/members`, member);
    const json = { title: 'x', visibility: 'private', files };
    expect((await service.call('POST', path, { token: author.token, json })).status).toBe(201);
    const kept = await written(path);
    const both = await sizeOf(id);
    await root('DELETE', `/users/${author.id}?hard_delete=true`);
    expect(await sizeOf(id)).toBe((await world.store.snippets.get(kept.id))!.repositorySize);
    expect(await sizeOf(id)).toBeLessThan(both);
  });

  test('wherever it moves, until it is deleted', async () => {
    const { id, name, path } = await shelf();
    const other = await shelf();
    await written(path);
    const size = await sizeOf(id);
    const { status } = await as('owner', 'PUT', `/projects/${id}/transfer`, { namespace: other.name });
    expect(status).toBe(200);
    expect(await sizeOf(id)).toBe(size);
    expect(await sizeOfGroup(name)).toMatchObject({ snippets_size: 0 });
    expect(await sizeOfGroup(other.name)).toMatchObject({ snippets_size: size });
    await as('owner', 'DELETE', `/projects/${id}`);
    await settled();
    expect(await sizeOfGroup(other.name)).toMatchObject({ snippets_size: 0, storage_size: 0 });
    expect(await world.store.snippets.total(id)).toBe(0);
  });
});

/** What waits to be measured. */
async function promised(id: number): Promise<number> {
  let found = 0;
  for (let shard = 0; shard < 8; shard++)
    for await (const row of world.store.table.queryAll({ partition: outboxPartition(shard) }))
      if (row['type'] === 'project.measure' && (row['body'] as { projectId: number }).projectId === id)
        found++;
  return found;
}

const NONE = {
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
};

scenarios(
  () => world,
  [
    {
      request: 'GET /projects/{private}/languages',
      as: { anonymous: 404, stranger: 404, guest: 403, reporter: 200, read_api: 200, blocked: 403 },
      holds: { TypeScript: 60, Python: 30, Shell: 10 },
      hides: ['TypeScript'],
    },
    { request: 'GET /projects/{public}/languages', as: { anonymous: 200, external: 200 }, holds: {} },
    {
      request: 'GET /projects/{private}/storage',
      as: { anonymous: 401, stranger: 404, guest: 403, owner: 403, administrator: 200 },
      look: ({ status, body }) => {
        if (status !== 200) return;
        expect(body).toMatchObject({ project_id: world.ids['private'], repository_storage: 'default' });
        expect(body.disk_path).toMatch(/^@hashed\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}$/);
      },
    },
  ],
);

test('project statistics are shown on request to Reporters', async () => {
  const id = world.ids['private']!;
  const shown = await statistics(id);
  expect(shown).toEqual({
    commit_count: 1,
    storage_size: shown.repository_size,
    repository_size: shown.repository_size,
    ...NONE,
  });
  // The pack and its index: three blobs, a tree, a commit.
  expect(shown.repository_size).toBeGreaterThan(1000);
  expect(shown.repository_size).toBeLessThan(4000);
  expect(await statistics(id, 'reporter')).toEqual(shown);
  expect(await statistics(id, 'administrator')).toEqual(shown);
  expect(await statistics(id, 'guest')).toBeUndefined();
  expect(await statistics(world.ids['public']!, 'stranger')).toBeUndefined();
  expect((await as('owner', 'GET', `/projects/${id}`)).body).not.toHaveProperty('statistics');
  const { body } = await as(
    'reporter',
    'GET',
    '/projects?statistics=true&membership=true&order_by=id&sort=asc',
  );
  expect(body.map((each: { statistics: { commit_count: number } }) => each.statistics?.commit_count)).toEqual(
    [0, 0, 1],
  );
});

test('the repository size is measured once after several pushes, as it is at that time', async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'grows' });
  await commit(body.id, { 'a.rs': 'r'.repeat(200), 'vendor/b.c': 'c'.repeat(9000) });
  await commit(body.id, { 'b.rb': 'b'.repeat(100) });
  const waiting = await promised(body.id);
  expect(waiting).toBeGreaterThanOrEqual(1);
  expect(waiting).toBeLessThanOrEqual(2);
  expect(await languages(body.id)).toEqual({});
  await Promise.all([measure(body.id, 'one'), measure(body.id, 'two')]);
  expect(await languages(body.id)).toEqual({ Rust: 66.67, Ruby: 33.33 });
  const first = await statistics(body.id);
  expect(first.commit_count).toBe(2);
  await commit(body.id, { 'a.rs': null, '.gitattributes': 'vendor/* -linguist-vendored\n' });
  await measure(body.id);
  expect(Object.keys(await languages(body.id))).toEqual(['C', 'Ruby']);
  expect(await statistics(body.id)).toMatchObject({ commit_count: 3 });
  expect((await statistics(body.id)).repository_size).toBeGreaterThan(first.repository_size);
  // Twice tells the same.
  const row = await world.store.statistics.ofProject(body.id);
  await measure(body.id);
  expect(await world.store.statistics.ofProject(body.id)).toEqual(row);
});

test('the licence is shown on request to those who can read the code', async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'licensed', visibility: 'public' });
  const of = async (who: Who) => (await as(who, 'GET', `/projects/${body.id}?license=true`)).body;
  expect(await of('owner')).toMatchObject({ license: null, license_url: null });
  const text = 'Mozilla Public License Version 2.0\n====\n';
  await commit(body.id, { 'LICENSE.md': text, 'COPYING.txt': 'else' });
  await measure(body.id);
  expect(await of('stranger')).toMatchObject({
    license: { key: 'mpl-2.0', name: 'Mozilla Public License 2.0', nickname: null },
    license_url: expect.stringMatching(/\/owner\/licensed\/-\/blob\/main\/LICENSE\.md$/),
  });
  expect((await as('owner', 'GET', `/projects/${body.id}`)).body).not.toHaveProperty('license');
  await as('owner', 'PUT', `/projects/${body.id}`, { repository_access_level: 'private' });
  expect(await of('stranger')).not.toHaveProperty('license');
});

test('projects can be filtered by programming language', async () => {
  const found = async (who: Who, language: string) => {
    const { body } = await as(
      who,
      'GET',
      `/projects?with_programming_language=${language}&order_by=id&sort=asc`,
    );
    return body.map((each: { path: string }) => each.path);
  };
  expect(await found('owner', 'python')).toEqual(['private-thing']);
  expect(await found('reporter', 'TypeScript')).toEqual(['private-thing']);
  expect(await found('stranger', 'TypeScript')).toEqual([]);
  expect(await found('owner', 'COBOL')).toEqual([]);
  // An edit of the record keeps them.
  await as('owner', 'PUT', `/projects/${world.ids['private']}`, { description: 'edited' });
  expect(await found('owner', 'Shell')).toEqual(['private-thing']);
});

test('a group’s statistics are the sum of its projects, wherever they move', async () => {
  const other = (await as('owner', 'POST', '/groups', { name: 'other', path: 'other' })).body.id;
  const sums = async (who: Who = 'administrator') => {
    const { body } = await as(who, 'GET', '/groups?statistics=true&all_available=true&order_by=id');
    const of = (id: number) => body.find((each: { id: number }) => each.id === id).statistics;
    return [of(group), of(other)];
  };
  expect(await sums('owner')).toEqual([undefined, undefined]);
  expect((await sums())[0]).toEqual({ storage_size: 0, repository_size: 0, ...NONE });
  const made = async (name: string) => {
    const { body } = await as('owner', 'POST', '/projects', { name, namespace_id: group });
    await commit(body.id, { 'a.c': name.repeat(100) });
    await measure(body.id);
    return { id: body.id as number, size: (await statistics(body.id)).repository_size as number };
  };
  const [one, two] = [await made('one'), await made('two')];
  const sizes = async () => (await sums()).map(({ repository_size }) => repository_size);
  expect(await sizes()).toEqual([one.size + two.size, 0]);
  expect((await as('owner', 'PUT', `/projects/${two.id}/transfer`, { namespace: other })).status).toBe(200);
  expect(await promised(two.id)).toBeGreaterThanOrEqual(1);
  await measure(two.id);
  expect(await sizes()).toEqual([one.size, two.size]);
  await as('owner', 'DELETE', `/projects/${one.id}`);
  await expect.poll(sizes).toEqual([0, two.size]);
  // A message that comes late finds nothing.
  await measure(one.id);
  expect(await world.store.statistics.ofProject(one.id)).toBeUndefined();
  await as('owner', 'DELETE', `/groups/${other}`);
  await expect.poll(() => world.store.statistics.ofProject(two.id)).toBeUndefined();
  expect(await world.store.statistics.ofGroups([other])).toMatchObject([{ repositorySize: 0, wikiSize: 0 }]);
});

test('administrators can sort projects by size; those without a measurement count as the smallest', async () => {
  const made = async (name: string) => (await as('owner', 'POST', '/projects', { name })).body.id as number;
  const [large, empty] = [await made('large'), await made('empty')];
  const incompressible = Array.from({ length: 4000 }, (_, i) => ((i * 7919) % 9973).toString(36)).join('');
  await commit(large, { 'a.c': incompressible });
  await measure(large);
  const listed = async (query: string, who: Who = 'administrator'): Promise<number[]> =>
    (await as(who, 'GET', `/projects?simple=true&per_page=100&${query}`)).body.map(
      ({ id }: { id: number }) => id,
    );
  // Of the others only their size is looked at: they store nothing in a repository.
  const [book, store] = [await made('book'), await made('store')];
  // Longer than the wiki of another test, whatever the times in the commits add to it.
  const page = { title: 'home', content: incompressible.slice(0, 4000) };
  expect((await as('owner', 'POST', `/projects/${book}/wikis`, page)).status).toBe(201);
  const file = `/projects/${store}/packages/generic/tool/1.0/tool.bin`;
  await service.call('PUT', file, { token: world.tokens.owner!, raw: incompressible.repeat(3) });
  for (const id of [book, store]) await measure(id, 'beside the code');
  for (const [order, first] of [
    ['wiki_size', book],
    ['packages_size', store],
    ['storage_size', store],
  ] as const) {
    const down = await listed(`order_by=${order}`);
    expect([order, down[0]]).toEqual([order, first]);
    expect(await listed(`order_by=${order}&sort=asc`)).toEqual(down.toReversed());
    expect(down.toSorted()).toEqual((await listed('order_by=id')).toSorted());
    expect((await listed(`order_by=${order}&topic=none`)).length).toBe(0);
  }
  await as('owner', 'DELETE', `/projects/${store}`);
  await as('owner', 'DELETE', `/projects/${book}/wikis/home`);
  for (const order of ['storage_size', 'repository_size']) {
    const down = await listed(`order_by=${order}`);
    expect(down[0]).toBe(large);
    expect(down.indexOf(world.ids['private']!)).toBeLessThan(down.indexOf(empty));
    expect(await listed(`order_by=${order}&sort=asc`)).toEqual(down.toReversed());
    expect(await listed(`order_by=${order}&search=large`)).toEqual([large]);
  }
  // To others the order tells nothing.
  expect(await listed('order_by=storage_size&owned=true', 'owner')).toEqual(
    await listed('order_by=created_at&owned=true', 'owner'),
  );
  // Another change of the record leaves it where it is.
  await as('owner', 'PUT', `/projects/${large}`, { description: 'still large' });
  expect((await listed('order_by=storage_size'))[0]).toBe(large);
});
