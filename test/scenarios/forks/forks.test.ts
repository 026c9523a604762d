/** Forks through the interface: who may make which, what becomes of them, what they share and what they do not. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Answer } from '../../harness/service.ts';
import { ask, storeOf, type Who } from '../../harness/world.ts';

const { service, world } = ownWorld();
beforeAll(async () => {
  const content = { branch: 'main', commit_message: 'Begin', content: 'one\n' };
  for (const visibility of ['public', 'internal', 'private'])
    await ask(world, 'owner', 'POST', `/projects/${world.ids[visibility]}/repository/files/a.txt`, content);
});

let forks = 0;
const fork = (who: Who, id: number, json: Record<string, unknown> = {}) => {
  const own = `fork-${++forks}`;
  return ask(world, who, 'POST', `/projects/${id}/fork`, { name: own, path: own, ...json });
};
/** As it is when its worker is done. */
async function filled(who: Who, answer: Answer): Promise<Answer> {
  expect([answer.status, answer.body]).toMatchObject([201, { import_status: 'scheduled', empty_repo: true }]);
  const get = () => ask(world, who, 'GET', `/projects/${answer.body.id}`);
  return vi.waitFor(
    async () => {
      const now = await get();
      expect(now.body.import_status).toMatch(/finished|failed/);
      return now;
    },
    { timeout: 60_000, interval: 20 },
  );
}
const made = async (who: Who, id: number, json?: Record<string, unknown>): Promise<number> =>
  (await filled(who, await fork(who, id, json))).body.id;
const named = (id: number) => ask(world, 'owner', 'GET', `/projects/${id}`);
const notFound = { status: 404, holds: { message: '404 Project Not Found' } };
const notAllowed = { status: 404, holds: { message: '404 Not Found' } };

describe('forking', () => {
  const path = () => ({ name: `p-${++forks}`, path: `p-${forks}` });
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{private}/fork',
        json: path,
        as: {
          anonymous: 401,
          stranger: notFound,
          external: notFound,
          former: notFound,
          guest: notAllowed,
          reporter: 201,
          developer: 201,
          owner: 201,
          administrator: 201,
          read_api: 403,
          read_repository: 403,
          unknown: 401,
        },
        holds: { visibility: 'private', import_status: 'scheduled', forks_count: 0 },
        hides: ['secret of private'],
      },
      {
        request: 'POST /projects/{internal}/fork',
        json: path,
        as: { anonymous: 401, external: notFound, stranger: 201, guest: 201 },
        holds: { visibility: 'internal' },
      },
      {
        request: 'POST /projects/{public}/fork',
        json: path,
        as: { anonymous: 401, stranger: 201 },
        holds: { visibility: 'public', description: 'secret of public' },
      },
    ],
  );

  test('copies branches, tags, HEAD and the default branch’s protection, and no hidden refs', async () => {
    const { ids } = world;
    const repository = `/projects/${ids['public']}/repository`;
    await ask(world, 'owner', 'POST', `${repository}/branches`, { branch: 'side', ref: 'main' });
    await ask(world, 'owner', 'POST', `${repository}/tags`, { tag_name: 'v1', ref: 'main', message: 'One' });
    const { body } = await filled(
      'stranger',
      await fork('stranger', ids['public']!, { name: 'Mine', path: 'mine', description: 'd' }),
    );
    expect(body).toMatchObject({
      name: 'Mine',
      path_with_namespace: 'stranger/mine',
      description: 'd',
      default_branch: 'main',
      empty_repo: false,
      import_status: 'finished',
      import_error: null,
      owner: { username: 'stranger' },
      forked_from_project: { id: ids['public'], path_with_namespace: 'owner/public-thing' },
    });
    const of = async (path: string) =>
      (await ask(world, 'stranger', 'GET', `/projects/${body.id}${path}`)).body;
    expect((await of('/repository/branches')).map((b: { name: string }) => b.name)).toEqual(['main', 'side']);
    expect(await of('/repository/tags')).toMatchObject([{ name: 'v1', message: 'One' }]);
    expect(await of('/protected_branches')).toMatchObject([{ name: 'main' }]);
    expect(await of('/repository/files/a.txt?ref=main')).toMatchObject({ size: 4 });
    const commit = { branch: 'main', commit_message: 'Mine', content: 'two\n' };
    expect(
      (await ask(world, 'stranger', 'POST', `/projects/${body.id}/repository/files/b.txt`, commit)).status,
    ).toBe(201);
    expect((await ask(world, 'owner', 'GET', `${repository}/files/b.txt?ref=main`)).status).toBe(404);
    // Nor can the source read by its id what was written to the fork.
    const { id } = (await of('/repository/commits')).at(0);
    expect((await ask(world, 'owner', 'GET', `${repository}/commits/${id}`)).status).toBe(404);
  });

  test('of an empty project gives an empty project', async () => {
    const empty = await ask(world, 'owner', 'POST', '/projects', { name: 'nothing', visibility: 'public' });
    const { body } = await filled('stranger', await fork('stranger', empty.body.id));
    expect(body).toMatchObject({ import_status: 'finished', empty_repo: true, default_branch: null });
  });

  test('of a fork gives a fork of that fork', async () => {
    const first = await made('stranger', world.ids['public']!);
    const { body } = await filled('guest', await fork('guest', first));
    expect(body).toMatchObject({ empty_repo: false, forked_from_project: { id: first } });
    expect((await ask(world, 'stranger', 'GET', `/projects/${first}`)).body.forks_count).toBe(1);
  });

  test.each<[string, Record<string, unknown>, number, unknown]>([
    ['own namespace by path', { namespace_path: 'STRANGER' }, 201, {}],
    ['own namespace, deprecated', { namespace: 'stranger' }, 201, {}],
    ['empty values count as absent', { namespace: '', namespace_path: '', name: '' }, 201, {}],
    ['foreign path', { namespace_path: 'owner' }, 404, { message: '404 Namespace Not Found' }],
    ['unknown path', { namespace: 'nobody/x' }, 404, { message: '404 Namespace Not Found' }],
    ['foreign id', { namespace_id: 1 }, 404, { message: '404 Namespace Not Found' }],
    ['bad id', { namespace_id: 'x' }, 400, { error: 'namespace_id is invalid' }],
    ['bad visibility', { visibility: 'x' }, 400, { error: 'visibility does not have a valid value' }],
    ['lower visibility', { visibility: 'private' }, 201, { visibility: 'private' }],
    ['bad path', { path: '-x' }, 400, { message: { path: [expect.any(String)] } }],
  ])('%s', async (_, json, status, body) => {
    expect(await fork('stranger', world.ids['public']!, json)).toMatchObject({ status, body });
  });

  test('into another user’s namespace is for administrators, and gives the fork to its owner', async () => {
    const into = { namespace_path: 'Guest', name: 'A gift', path: 'gift' };
    const id = world.ids['public']!;
    expect(await fork('developer', id, into)).toMatchObject({
      status: 404,
      body: { message: '404 Namespace Not Found' },
    });
    const { body } = await filled('administrator', await fork('administrator', id, into));
    expect(body).toMatchObject({
      path_with_namespace: 'guest/gift',
      owner: { username: 'guest' },
      permissions: { project_access: null },
    });
    const seen = await ask(world, 'guest', 'GET', `/projects/${body.id}`);
    expect(seen.body).toMatchObject({ import_status: 'finished', owner: { username: 'guest' } });
    const commit = { branch: 'main', commit_message: 'Mine', content: 'two\n' };
    const file = `/projects/${body.id}/repository/files/b.txt`;
    expect((await ask(world, 'guest', 'POST', file, commit)).status).toBe(201);
  });

  test('caps the visibility at that of the source', async () => {
    const answer = await fork('reporter', world.ids['private']!, { visibility: 'public' });
    expect(answer).toMatchObject({ status: 201, body: { visibility: 'private' } });
  });

  test('to a taken path, in any case, or to the source’s own namespace is refused', async () => {
    const taken = { name: ['has already been taken'], path: ['has already been taken'] };
    const id = world.ids['public']!;
    await fork('developer', id, { name: 'Taken', path: 'Taken' });
    for (const path of ['Taken', 'tAKEN'])
      expect(await fork('developer', id, { name: 'Taken', path })).toMatchObject({
        status: 409,
        body: { message: taken },
      });
    const named = await fork('developer', id, { name: 'Taken' });
    expect([named.status, named.body.message]).toEqual([409, { name: taken.name }]);
    const same = await ask(world, 'owner', 'POST', `/projects/${id}/fork`);
    expect(same).toMatchObject({ status: 409, body: { message: taken } });
  });

  test('beyond the project limit is refused', async () => {
    const { token } = await service.user('limited', { projects_limit: 0 });
    const answer = await service.call('POST', `/projects/${world.ids['public']}/fork`, { token });
    expect(answer).toMatchObject({ status: 403, body: { message: [expect.stringContaining('limit is 0')] } });
  });

  test('obeys forking_access_level', async () => {
    const project = async (forking_access_level: string) =>
      (
        await ask(world, 'owner', 'POST', '/projects', {
          name: `forking ${forking_access_level}`,
          visibility: 'public',
          forking_access_level,
        })
      ).body.id;
    const [members, nobody] = [await project('private'), await project('disabled')];
    const json = { user_id: world.ids['guest'], access_level: 10 };
    await ask(world, 'owner', 'POST', `/projects/${members}/members`, json);
    expect((await fork('stranger', members)).status).toBe(404);
    expect(await fork('guest', members)).toMatchObject({
      status: 201,
      body: { forking_access_level: 'private' },
    });
    expect((await fork('owner', nobody)).status).toBe(404);
  });

  test('leaves a project that reads as empty and refuses writes until it is filled', async () => {
    const { store } = world;
    const answer = await fork('stranger', world.ids['public']!);
    const project = `/projects/${answer.body.id}`;
    await filled('stranger', answer);
    // As while its worker waits.
    const set = (importStatus: string) =>
      store.table.update({ update: keyOf(answer.body.id), set: { importStatus } });
    await set('started');
    const get = (path: string) => ask(world, 'stranger', 'GET', `${project}/repository/${path}`);
    expect((await get('branches')).body).toEqual([]);
    expect((await get('commits')).body).toEqual([]);
    expect((await get('files/a.txt?ref=main')).status).toBe(404);
    const commit = { branch: 'main', commit_message: 'x', content: 'x' };
    expect(await ask(world, 'stranger', 'POST', `${project}/repository/files/x`, commit)).toMatchObject({
      status: 400,
      body: { message: 'The repository is being imported. Please try again later.' },
    });
    await set('finished');
    expect((await get('files/a.txt?ref=main')).status).toBe(200);
  });
});

describe('the list of forks', () => {
  let source: number;
  let ids: Record<string, number>;
  beforeAll(async () => {
    const json = { name: 'much forked', visibility: 'public', initialize_with_readme: true };
    source = (await ask(world, 'owner', 'POST', '/projects', json)).body.id;
    ids = {
      b: await made('stranger', source, { name: 'Bee', path: 'list-b' }),
      hidden: await made('developer', source, { name: 'Ant', path: 'list-hidden', visibility: 'private' }),
      c: await made('guest', source, { name: 'Cat', path: 'list-c', visibility: 'internal' }),
    };
  });
  const list = async (who: Who, query = '') => {
    const { status, body, headers } = await ask(world, who, 'GET', `/projects/${source}/forks?${query}`);
    expect([status, body]).toMatchObject([200, expect.any(Array)]);
    return { ids: body.map((p: { id: number }) => p.id), body, headers };
  };
  const those = (...names: string[]) => names.map((name) => ids[name]);

  test('has, and counts, only forks the caller can see', async () => {
    expect((await list('anonymous')).ids).toEqual(those('b'));
    expect((await list('external')).ids).toEqual(those('b'));
    expect((await list('stranger')).ids).toEqual(those('c', 'b'));
    const all = await list('administrator');
    expect(all.ids).toEqual(those('c', 'hidden', 'b'));
    expect(all.headers.get('x-total')).toBe('3');
    expect((await list('stranger')).headers.get('x-total')).toBe('2');
    expect((await ask(world, 'stranger', 'GET', `/projects/${source}`)).body.forks_count).toBe(3);
  });

  test.each<[string, Who, readonly string[]]>([
    ['sort=asc', 'administrator', ['b', 'hidden', 'c']],
    ['order_by=id&sort=asc', 'administrator', ['b', 'hidden', 'c']],
    ['order_by=name&sort=asc', 'administrator', ['hidden', 'b', 'c']],
    ['order_by=path', 'administrator', ['hidden', 'c', 'b']],
    ['order_by=updated_at&sort=asc', 'administrator', ['b', 'hidden', 'c']],
    ['visibility=internal', 'stranger', ['c']],
    ['archived=true', 'administrator', []],
    ['owned=true', 'stranger', ['b']],
    ['membership=true', 'guest', ['c']],
    ['min_access_level=40', 'developer', ['hidden']],
    ['search=bee', 'stranger', ['b']],
    ['search=list-', 'stranger', ['c', 'b']],
    ['starred=true', 'administrator', []],
    ['with_issues_enabled=true', 'administrator', ['c', 'hidden', 'b']],
    ['page=2&per_page=2', 'administrator', ['b']],
    ['page=9', 'administrator', []],
  ])('filtered by %s, as seen by %s', async (query, who, names) => {
    expect((await list(who, query)).ids).toEqual(those(...names));
  });

  test('is in short form on request and for anonymous callers', async () => {
    expect((await list('stranger', 'simple=true')).body[0]).not.toHaveProperty('visibility');
    expect((await list('anonymous')).body[0]).not.toHaveProperty('visibility');
    expect((await list('stranger')).body[0]).toMatchObject({ forked_from_project: { id: source } });
  });

  scenarios(
    () => world,
    [
      {
        request: 'GET /projects/{private}/forks',
        as: { anonymous: notFound, stranger: notFound, guest: 200, read_api: 200, owner: 200 },
      },
    ],
  );
});

describe('the fork relation', () => {
  const project = async (who: Who, visibility = 'public') =>
    (
      await ask(world, who, 'POST', '/projects', {
        name: `related ${++forks}`,
        visibility,
        initialize_with_readme: true,
      })
    ).body.id as number;

  test('can be created and deleted, and is counted and listed', async () => {
    const [parent, child] = [await project('owner'), await project('stranger')];
    const relation = `/projects/${child}/fork`;
    const related = await ask(world, 'stranger', 'POST', `${relation}/${parent}`);
    expect(related).toMatchObject({ status: 201, body: { id: child, forked_from_project: { id: parent } } });
    expect((await named(parent)).body.forks_count).toBe(1);
    expect((await ask(world, 'owner', 'GET', `/projects/${parent}/forks`)).body).toMatchObject([
      { id: child },
    ]);
    expect(await ask(world, 'stranger', 'POST', `${relation}/${parent}`)).toMatchObject({
      status: 409,
      body: { message: 'Project already forked' },
    });
    expect(await ask(world, 'stranger', 'DELETE', relation)).toMatchObject({ status: 204, body: null });
    expect(await ask(world, 'stranger', 'DELETE', relation)).toMatchObject({ status: 304, body: null });
    expect((await named(parent)).body.forks_count).toBe(0);
    expect((await ask(world, 'owner', 'GET', `/projects/${parent}/forks`)).body).toEqual([]);
    expect((await ask(world, 'stranger', 'GET', `/projects/${child}`)).body).not.toHaveProperty(
      'forked_from_project',
    );
  });

  test('is refused to a more restricted source, to itself, and to a descendant', async () => {
    const [secret, open] = [await project('owner', 'private'), await project('owner')];
    const relate = (child: number, parent: number) =>
      ask(world, 'owner', 'POST', `/projects/${child}/fork/${parent}`);
    expect(await relate(open, secret)).toMatchObject({
      status: 400,
      body: {
        message: {
          visibility_level: ['public is not allowed since the fork source project has lower visibility.'],
        },
      },
    });
    expect((await relate(open, open)).status).toBe(400);
    expect((await relate(secret, open)).status).toBe(201);
    expect((await relate(open, secret)).status).toBe(400);
    expect(await relate(open, 999_999)).toMatchObject(notFoundBody);
  });
  const notFoundBody = { status: 404, body: { message: '404 Project Not Found' } };

  test('hides a source that the caller cannot see', async () => {
    const id = await made('reporter', world.ids['private']!);
    const json = { user_id: world.ids['stranger'], access_level: 30 };
    await ask(world, 'reporter', 'POST', `/projects/${id}/members`, json);
    const as = async (who: Who) => (await ask(world, who, 'GET', `/projects/${id}`)).body;
    expect(await as('reporter')).toMatchObject({ forked_from_project: { id: world.ids['private'] } });
    expect(await as('stranger')).not.toHaveProperty('forked_from_project');
    expect(JSON.stringify(await as('stranger'))).not.toContain(`owner/`);
  });

  scenarios(
    () => world,
    [
      {
        request: 'DELETE /projects/{public}/fork',
        as: { anonymous: 401, stranger: 403, maintainer: 403, owner: 304, administrator: 304 },
      },
      {
        request: 'POST /projects/{public}/fork/{internal}',
        as: {
          anonymous: 401,
          stranger: 403,
          maintainer: 403,
          owner: { status: 400, holds: { message: { visibility_level: [expect.any(String)] } } },
        },
      },
      {
        request: 'POST /projects/{private}/fork/{private}',
        as: { stranger: notFound, guest: 403 },
      },
    ],
  );

  test('ends when the source is deleted; siblings stay related', async () => {
    const parent = await project('owner');
    const child = await made('stranger', parent);
    expect((await ask(world, 'owner', 'DELETE', `/projects/${parent}`)).status).toBe(202);
    const look = async () => (await ask(world, 'stranger', 'GET', `/projects/${child}`)).body;
    expect(await look()).not.toHaveProperty('forked_from_project');
    await expect.poll(async () => (await storeOf().projects.get(child))?.forkedFromId).toBeUndefined();
    expect((await ask(world, 'stranger', 'DELETE', `/projects/${child}/fork`)).status).toBe(304);
    const files = await ask(
      world,
      'stranger',
      'GET',
      `/projects/${child}/repository/files/README.md?ref=main`,
    );
    expect(files.status).toBe(200);
  });

  test('no longer counts a deleted fork', async () => {
    const parent = await project('owner');
    const child = await made('stranger', parent);
    expect((await ask(world, 'stranger', 'DELETE', `/projects/${child}`)).status).toBe(202);
    expect((await named(parent)).body.forks_count).toBe(0);
    expect((await ask(world, 'owner', 'GET', `/projects/${parent}/forks`)).body).toEqual([]);
  });
});

const keyOf = (id: number) => ({ pk: `PROJECT#${String(id).padStart(12, '0')}`, sk: 'PROJECT' });
