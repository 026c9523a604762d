import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { request } from '../../harness/service.ts';
import { ask, type Who } from '../../harness/world.ts';

const { service, world } = ownWorld();

/** Who holds what: the world's people, members of a new project too. */
async function project(options: Record<string, unknown>): Promise<{ id: number; path: string }> {
  const { status, body } = await ask(world, 'owner', 'POST', '/projects', {
    initialize_with_readme: true,
    ...options,
  });
  expect([status, body.default_branch, body.empty_repo]).toEqual([201, 'main', false]);
  for (const [who, access_level] of [
    ['guest', 10],
    ['reporter', 20],
    ['developer', 30],
    ['maintainer', 40],
  ] as const) {
    await ask(world, 'owner', 'POST', `/projects/${body.id}/members`, {
      user_id: world.ids[who],
      access_level,
    });
  }
  return { id: body.id, path: body.path_with_namespace };
}

const PEOPLE = ['anonymous', 'stranger', 'external', 'guest', 'reporter', 'owner', 'administrator'] as const;
type Readers = readonly (200 | 401 | 403 | 404)[];

/** Statuses of git's fetch, in the order of PEOPLE; `default_branch` is told exactly to those who may fetch. */
const CASES: readonly (readonly [string, Record<string, unknown>, Readers])[] = [
  ['public', { visibility: 'public' }, [200, 200, 200, 200, 200, 200, 200]],
  ['internal', { visibility: 'internal' }, [401, 200, 404, 200, 200, 200, 200]],
  ['private', { visibility: 'private' }, [401, 404, 404, 403, 200, 200, 200]],
  [
    'public, code for members',
    { visibility: 'public', repository_access_level: 'private' },
    [401, 403, 403, 200, 200, 200, 200],
  ],
  [
    'internal, code for members',
    { visibility: 'internal', repository_access_level: 'private' },
    [401, 403, 404, 200, 200, 200, 200],
  ],
];

describe.each(CASES)('cloning %s', (name, options, statuses) => {
  let made: { id: number; path: string };
  beforeAll(async () => {
    made = await project({ name: name.replace(',', ''), ...options });
  });

  test.each(PEOPLE.map((who, index) => [who, statuses[index]!] as const))(
    'as %s is answered with %i',
    async (who, status) => {
      const token = world.tokens[who];
      const basic = Buffer.from(`x:${token}`).toString('base64');
      const headers = token === undefined ? {} : { Authorization: `Basic ${basic}` };
      const git = await request(`${service.url}/${made.path}.git/info/refs?service=git-upload-pack`, 'GET', {
        headers,
      });
      expect(git.status).toBe(status);
      const branches = await ask(world, who, 'GET', `/projects/${made.id}/repository/branches`);
      const hidden = options['visibility'] !== 'public' && (who === 'anonymous' || status === 404);
      // Over REST a project that is hidden is absent, for anonymous callers too.
      expect(branches.status).toBe(hidden ? 404 : status);
      if (status !== 200) expect(JSON.stringify(branches.body)).not.toContain('main');

      const shown = await ask(world, who, 'GET', `/projects/${made.id}`);
      if (hidden) return expect(shown.status).toBe(404);
      const readable = status === 200;
      expect(shown.body.default_branch).toBe(readable ? 'main' : null);
      expect(shown.body.readme_url === null).toBe(!readable);
      for (const simple of ['false', 'true']) {
        const list = await ask(world, who, 'GET', `/projects?per_page=100&simple=${simple}`);
        const row = list.body.find((one: { id: number }) => one.id === made.id);
        expect(row.default_branch).toBe(readable ? 'main' : null);
      }
    },
  );
});

test('disabled repositories are closed to everybody, and a project whose README fails is not created', async () => {
  const options = { name: 'off', visibility: 'public', repository_access_level: 'disabled' };
  const refused = await ask(world, 'owner', 'POST', '/projects', {
    ...options,
    initialize_with_readme: true,
  });
  expect(refused.status).toBe(403);
  expect((await ask(world, 'owner', 'GET', '/projects/owner%2Foff')).status).toBe(404);
  const made = await ask(world, 'owner', 'POST', '/projects', options);
  expect(made.status).toBe(201);
  for (const who of ['stranger', 'owner', 'administrator'] as const satisfies Who[]) {
    const status = async (path: string) =>
      (await ask(world, who, 'GET', `/projects/${made.body.id}/repository/${path}`)).status;
    expect([who, await status('tree'), await status('tags')]).toEqual([who, 403, 403]);
    for (const path of ['branches', 'branches/main', 'commits', 'commits/main', 'commits/main/diff']) {
      expect([who, path, await status(path)]).toEqual([who, path, 404]);
    }
  }
  const list = await ask(world, 'anonymous', 'GET', `/projects/${made.body.id}/repository/branches`);
  expect(list).toMatchObject({ status: 404, body: { message: '404 Repository Not Found' } });
  for (const [path, json] of [
    ['branches', { branch: 'x', ref: 'main' }],
    ['commits', { branch: 'main', commit_message: 'x', actions: [] }],
  ] as const) {
    const answer = await ask(world, 'owner', 'POST', `/projects/${made.body.id}/repository/${path}`, json);
    expect(answer).toMatchObject({ status: 404, body: { message: '404 Repository Not Found' } });
  }
});

test('the initial README is committed by the caller to the requested branch', async () => {
  const { body } = await ask(world, 'owner', 'POST', '/projects', {
    name: 'With Readme',
    description: 'about it',
    default_branch: 'trunk',
    initialize_with_readme: true,
  });
  expect(body).toMatchObject({ default_branch: 'trunk', empty_repo: false });
  expect((await ask(world, 'owner', 'GET', `/projects/${body.id}`)).body).toMatchObject({
    default_branch: 'trunk',
  });
  const file = await ask(
    world,
    'owner',
    'GET',
    `/projects/${body.id}/repository/files/README.md/raw?ref=trunk`,
  );
  expect(String(file.body)).toBe('# With Readme\n\nabout it\n');
});

test('the day of last use is recorded for the token and its owner', async () => {
  const user = await service.user('active-today');
  await service.call('GET', '/version', { token: user.token });
  const { body } = await service.call('GET', `/users/${user.id}`, { token: service.rootToken });
  expect(body.last_activity_on).toBe(new Date().toISOString().slice(0, 10));
});
