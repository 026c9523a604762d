/** Deploy tokens; and what tokens of each scope may do, over the interface and over Git. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { TOKEN_SCOPES, type TokenScope } from '../../../lib/records/tokens.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { absent, BAD, NARROW } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { request } from '../../harness/service.ts';

const { service, world, as } = ownWorld();
const paths: Record<string, string> = {};
beforeAll(async () => {
  for (const [name, parent] of [
    ['team', undefined],
    ['inner', 'team'],
    ['apart', undefined],
  ] as const) {
    const group = await as('owner', 'POST', '/groups', {
      name,
      path: name,
      ...(parent === undefined ? {} : { parent_id: world.ids[parent] }),
    });
    world.ids[name] = group.body.id;
    const json = { name: `${name} code`, namespace_id: group.body.id, initialize_with_readme: true };
    const project = await as('owner', 'POST', '/projects', json);
    expect(project.status).toBe(201);
    world.ids[`${name}Code`] = project.body.id;
    paths[name] = project.body.path_with_namespace;
  }
  const json = { user_id: world.ids['maintainer'], access_level: 40 };
  await as('owner', 'POST', `/groups/${world.ids['team']}/members`, json);
});
afterEach(() => vi.useRealTimers());

const FIELDS = ['expired', 'expires_at', 'id', 'name', 'revoked', 'scopes', 'username'];
const body = { name: 'ci', scopes: ['read_repository'] };

describe('permission on deploy tokens', () => {
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{private}/deploy_tokens',
        json: body,
        as: {
          anonymous: 401,
          stranger: 404,
          guest: 403,
          developer: 403,
          maintainer: 201,
          owner: 201,
          administrator: 201,
          ...BAD,
          ...NARROW,
          read_api: 403,
        },
        holds: { name: 'ci', scopes: ['read_repository'], expires_at: null, revoked: false, expired: false },
        hides: ['gldt-'],
        look: ({ status, body }) => {
          if (status !== 201) return;
          expect(Object.keys(body).sort()).toEqual([...FIELDS, 'token'].sort());
          expect(body.token).toMatch(/^gldt-[A-Za-z0-9_-]{20}$/);
          expect(body.username).toBe(`deploy-token-${body.id}`);
        },
      },
      {
        request: 'GET /projects/{private}/deploy_tokens',
        as: {
          anonymous: 401,
          stranger: 404,
          developer: 403,
          maintainer: 200,
          owner: 200,
          administrator: 200,
          read_api: 200,
          ...BAD,
          ...NARROW,
        },
        look: ({ status, body }) => {
          if (status !== 200) return;
          expect(body.length).toBeGreaterThan(0);
          for (const one of body) expect(Object.keys(one).sort()).toEqual(FIELDS);
        },
      },
      {
        request: 'POST /groups/{team}/deploy_tokens',
        json: body,
        as: { anonymous: 401, stranger: 404, maintainer: 403, owner: 201, administrator: 201 },
      },
      {
        request: 'GET /groups/{team}/deploy_tokens',
        as: { anonymous: 401, stranger: 404, maintainer: 200, owner: 200, administrator: 200 },
      },
      {
        request: 'GET /deploy_tokens',
        as: { anonymous: 401, stranger: 403, owner: 403, administrator: 200 },
        look: ({ status, body }) => {
          if (status === 200) expect(body.length).toBeGreaterThan(3);
        },
      },
      {
        request: 'DELETE /projects/{private}/deploy_tokens/999999',
        as: {
          stranger: 404,
          developer: 403,
          maintainer: absent('Deploy Token'),
        },
      },
    ],
  );
});

test.each([
  [{}, { error: 'name is missing, scopes is missing, scopes is empty' }],
  [{ name: 'a', scopes: ['api'] }, { error: 'scopes does not have a valid value' }],
  [{ ...body, expires_at: 'soon' }, { error: 'expires_at is invalid' }],
  [{ ...body, name: ' ' }, { message: { name: ["can't be blank"] } }],
  [
    { ...body, username: 'a b' },
    { message: { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] } },
  ],
])('a deploy token with %j is refused', async (json, told) => {
  const answer = await as('owner', 'POST', `/projects/${world.ids['public']}/deploy_tokens`, json);
  expect([answer.status, answer.body]).toEqual([400, told]);
});

test('a deploy token is shown, filtered by activity, and deleted in its own project or group only', async () => {
  const base = `/projects/${world.ids['public']}/deploy_tokens`;
  const gone = (await as('owner', 'POST', base, { ...body, expires_at: '2020-01-01T00:00:00Z' })).body;
  const live = (await as('owner', 'POST', base, { ...body, username: 'me+you', expires_at: '2099-01-01' }))
    .body;
  expect(live).toMatchObject({ username: 'me+you', expires_at: '2099-01-01T00:00:00.000Z', expired: false });
  expect((await as('owner', 'GET', `${base}/${gone.id}`)).body).toMatchObject({ id: gone.id, expired: true });
  const ids = async (query: string) =>
    (await as('owner', 'GET', base + query)).body.map(({ id }: { id: number }) => id);
  expect(await ids('')).toEqual([gone.id, live.id]);
  expect(await ids('?active=false')).toEqual([gone.id, live.id]);
  expect(await ids('?active=true')).toEqual([live.id]);
  const elsewhere = `/projects/${world.ids['internal']}/deploy_tokens/${live.id}`;
  for (const method of ['GET', 'DELETE']) expect((await as('owner', method, elsewhere)).status).toBe(404);
  const kept = await service.call('DELETE', `${base}/${live.id}`, {
    token: world.tokens.owner!,
    headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' },
  });
  expect(kept.status).toBe(412);
  expect((await as('owner', 'DELETE', `${base}/${live.id}`)).status).toBe(204);
  expect((await as('owner', 'DELETE', `${base}/${live.id}`)).status).toBe(404);
  expect(await ids('')).toEqual([gone.id]);
});

describe('a deploy token over Git', () => {
  const tokens: Record<string, { id: number; username: string; token: string }> = {};
  beforeAll(async () => {
    const made = async (base: string, more: object = {}) =>
      (await as('owner', 'POST', `${base}/deploy_tokens`, { ...body, ...more })).body;
    tokens['project'] = await made(`/projects/${world.ids['teamCode']}`);
    tokens['group'] = await made(`/groups/${world.ids['team']}`);
    tokens['named'] = await made(`/projects/${world.ids['teamCode']}`, { username: 'builder' });
    tokens['packages'] = await made(`/projects/${world.ids['teamCode']}`, { scopes: ['read_registry'] });
    tokens['ended'] = await made(`/projects/${world.ids['teamCode']}`, {
      expires_at: '2020-01-01T00:00:00Z',
    });
  });
  const git = (path: string, name: string, options: { user?: string; push?: boolean } = {}) => {
    const { username, token } = tokens[name]!;
    const verb = options.push ? 'git-receive-pack' : 'git-upload-pack';
    return request(`${service.url}/${path}.git/info/refs?service=${verb}`, 'GET', {
      headers: basic(options.user ?? username, token),
    });
  };

  test.each([
    ['project', 'team', 200],
    ['project', 'inner', 404],
    ['project', 'apart', 404],
    ['group', 'team', 200],
    ['group', 'inner', 200],
    ['group', 'apart', 404],
    ['named', 'team', 200],
    ['packages', 'team', 403],
    ['ended', 'team', 401],
  ] as const)('of the %s reads %s: %i', async (name, where, status) => {
    const answer = await git(paths[where]!, name);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      status,
      status === 401 ? 'Basic realm="Lemnos"' : null,
    ]);
  });

  test('reads public projects, never writes, and needs its own username', async () => {
    expect((await git('owner/public-thing', 'project')).status).toBe(200);
    expect((await git('owner/internal-thing', 'project')).status).toBe(404);
    expect((await git('nobody/nothing', 'project')).status).toBe(404);
    for (const path of [paths['team']!, 'owner/public-thing']) {
      const push = await git(path, 'project', { push: true });
      expect([push.status, push.body]).toEqual([
        403,
        '403 Forbidden - You are not allowed to push code to this project.\n',
      ]);
    }
    const { username } = tokens['project']!;
    for (const [name, user, status] of [
      ['project', `gitlab+${username}`, 200],
      ['project', 'anybody', 401],
      ['project', '', 401],
      ['named', 'gitlab+builder', 401],
      ['named', username, 401],
    ] as const) {
      expect([name, user, (await git(paths['team']!, name, { user })).status]).toEqual([name, user, status]);
    }
  });

  test('does not authenticate to the API', async () => {
    const { username, token } = tokens['project']!;
    const path = `/projects/${world.ids['teamCode']}`;
    for (const headers of [
      { 'PRIVATE-TOKEN': token },
      basic(username, token),
      { Authorization: `Bearer ${token}` },
    ]) {
      expect((await service.call('GET', path, { headers })).status).toBe(401);
    }
  });

  test('reads nothing where the repository is disabled', async () => {
    const record = (await world.store.projects.get(world.ids['innerCode']!))!;
    const settings = { ...record.settings, repository_access_level: 'disabled' };
    const off = await world.store.projects.update(record, { settings });
    expect((await git(paths['inner']!, 'group')).status).toBe(403);
    await world.store.projects.update(off, { settings: record.settings });
    expect((await git(paths['inner']!, 'group')).status).toBe(200);
  });

  test('stops working on the next request after its deletion', async () => {
    const { id } = tokens['named']!;
    await as('owner', 'DELETE', `/projects/${world.ids['teamCode']}/deploy_tokens/${id}`);
    expect((await git(paths['team']!, 'named')).status).toBe(401);
  });

  test('stops working in the minute it expires', async () => {
    const until = new Date(Date.now() + 60_000);
    const path = `/projects/${world.ids['teamCode']}/deploy_tokens`;
    tokens['minute'] = (await as('owner', 'POST', path, { ...body, expires_at: until.toISOString() })).body;
    expect((await git(paths['team']!, 'minute')).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: until });
    expect((await git(paths['team']!, 'minute')).status).toBe(401);
  });
});

describe('a personal token of one scope', () => {
  /** Requests that the owner is permitted, by kind. */
  const CLASSES = {
    'GET /user': () => ['GET', '/user'],
    'GET /users': () => ['GET', '/users?username=guest'],
    'GET /projects/:id': () => ['GET', `/projects/${world.ids['teamCode']}`],
    'PUT member': () => ['PUT', `/projects/${world.ids['private']}/members/${world.ids['guest']}`],
    'GET file': () => ['GET', `/projects/${world.ids['teamCode']}/repository/files/README.md?ref=main`],
    'POST branch': () => ['POST', `/projects/${world.ids['teamCode']}/repository/branches`],
    'GET own token': () => ['GET', '/personal_access_tokens/self'],
    fetch: () => ['git-upload-pack', paths['team']!],
    push: () => ['git-receive-pack', paths['team']!],
  } satisfies Record<string, () => [string, string]>;
  type Class = keyof typeof CLASSES;
  const own: Class[] = ['GET own token'];
  const MAY: Record<TokenScope, Class[]> = {
    api: Object.keys(CLASSES) as Class[],
    read_api: ['GET /user', 'GET /users', 'GET /projects/:id', 'GET file', ...own],
    read_user: ['GET /user', 'GET /users', ...own],
    read_repository: ['GET file', 'fetch', ...own],
    write_repository: ['fetch', 'push', ...own],
    read_registry: own,
    write_registry: own,
    sudo: own,
  };

  test.each(TOKEN_SCOPES)('permits exactly the endpoints of %s', async (scope) => {
    const token = await tokenOf('owner', [scope]);
    const may: Class[] = [];
    for (const [name, of] of Object.entries(CLASSES) as [Class, () => [string, string]][]) {
      const [method, path] = of();
      const answer = method.startsWith('git-')
        ? await request(`${service.url}/${path}.git/info/refs?service=${method}`, 'GET', {
            headers: basic('x', token),
          })
        : await service.call(method, path, {
            token,
            ...(method === 'GET' ? {} : { json: { access_level: 10, branch: `by-${scope}`, ref: 'main' } }),
          });
      if (answer.status < 300) may.push(name);
      else expect([name, answer.status]).toEqual([name, 403]);
      if (answer.status === 403 && !method.startsWith('git-')) {
        expect(answer.body).toMatchObject({
          error: 'insufficient_scope',
          scope: expect.stringMatching(/^api\b/),
        });
      }
    }
    expect(may.sort()).toEqual([...MAY[scope]].sort());
  });

  test('follows the current rights of its owner', async () => {
    const token = await tokenOf('maintainer', ['api']);
    const path = `/projects/${world.ids['private']}`;
    const get = async () => (await service.call('GET', path, { token })).status;
    const fetch = async () =>
      (
        await request(`${service.url}/owner/private-thing.git/info/refs?service=git-upload-pack`, 'GET', {
          headers: basic('x', token),
        })
      ).status;
    expect([await get(), await fetch()]).toEqual([200, 200]);
    const source = { kind: 'project', id: world.ids['private']! } as const;
    const today = new Date();
    const tomorrow = new Date(today.getTime() + 86_400_000).toISOString().slice(0, 10);
    await world.store.members.change(source, world.ids['maintainer']!, {
      accessLevel: 40,
      expiresAt: tomorrow,
    });
    expect([await get(), await fetch()]).toEqual([200, 200]);
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${tomorrow}T00:00:00.000Z`) });
    expect([await get(), await fetch()]).toEqual([404, 404]);
    vi.useRealTimers();
    expect([await get(), await fetch()]).toEqual([200, 200]);
    const user = (await world.store.users.get(world.ids['maintainer']!))!;
    await world.store.users.update(user, { state: 'blocked' });
    expect([await get(), await fetch()]).toEqual([403, 403]);
  });
});

async function tokenOf(who: 'owner' | 'maintainer', scopes: readonly TokenScope[]): Promise<string> {
  const path = `/users/${world.ids[who]}/personal_access_tokens`;
  const made = await as('administrator', 'POST', path, { name: scopes.join(), scopes });
  expect(made.status).toBe(201);
  return made.body.token;
}

const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
