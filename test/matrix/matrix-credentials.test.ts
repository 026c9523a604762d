/** What a credential is good for, over every endpoint: single scopes, `Sudo`, and what changes between two requests. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { allEndpoints } from '../../lib/api/all.ts';
import { tokenHash } from '../../lib/domain/access/token-check.ts';
import type { TokenScope } from '../../lib/records/tokens.ts';
import type { UserRecord } from '../../lib/records/users.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { tokenKey } from '../../lib/store/row-keys/tokens.ts';
import { type Service, startService } from '../harness/service.ts';
import { type Column, type Fixtures, makeFixtures, tokenOf } from './fixtures.ts';
import { type Row, readRows } from './rows.ts';
import { send, subjectOf } from './run.ts';

let service: Service;
let fixtures: Fixtures;
/** The stranger's, of one scope each. */
const single: Partial<Record<TokenScope, string>> = {};
const SINGLE = ['read_repository', 'write_repository', 'read_registry', 'sudo'] as const;
beforeAll(async () => {
  service = await startService({ background: false });
  fixtures = await makeFixtures(service);
  for (const scope of SINGLE)
    single[scope] = (await tokenOf(service, Number(fixtures.names['strg']), scope)).token;
});
afterAll(() => service.stop());
afterEach(() => {
  vi.useRealTimers();
});

const rows = readRows();

describe('a token with the single scope', () => {
  // Where users' tokens are no credentials, one of few scopes is none either.
  const tried = allEndpoints.flatMap(({ method, path, access }) => {
    if (access.kind === 'other' || (access.kind === 'anyone' && access.unread)) return [];
    const row = rows.find((each) => each.endpoint === `${method} ${path.replaceAll('*', ':')}`);
    return row === undefined || path === '/personal_access_tokens/self' ? [] : [row];
  });

  test.each(SINGLE)('%s grants access to files at most, and reveals nothing else', async (scope) => {
    const wrong: string[] = [];
    const ask = async (row: Row) => {
      const line = row.lines.find(({ subject }) => subject === 'private') ?? row.lines[0]!;
      const names = { ...fixtures.names, ...subjectOf(fixtures, row, line), new: 0, n: 0 };
      const { status, body } = await send(fixtures, { token: single[scope]! }, row, names);
      const reads = /^(GET|HEAD) .*\/repository\/files\//.test(row.endpoint);
      const right =
        reads && scope === 'read_repository'
          ? status === 404
          : status === 403 && (row.method === 'HEAD' || body?.error === 'insufficient_scope');
      if (!right) wrong.push(`${row.endpoint}: ${status} ${JSON.stringify(body)}`);
    };
    // None of them does anything.
    for (let i = 0; i < tried.length; i += 10) await Promise.all(tried.slice(i, i + 10).map(ask));
    expect(wrong).toEqual([]);
  });

  test.each(SINGLE)('%s can show and revoke itself', async (scope) => {
    const { token } = await tokenOf(service, Number(fixtures.names['strg']), scope);
    const self = (method: string) => service.call(method, '/personal_access_tokens/self', { token });
    expect((await self('GET')).body).toMatchObject({ scopes: [scope], active: true });
    expect((await self('DELETE')).status).toBe(204);
    expect((await self('GET')).body).toMatchObject({ error: 'invalid_token' });
  });
});

test('a Sudo request gets the statuses of the impersonated user’s column', { timeout: 600_000 }, async () => {
  const reads = rows.filter(
    // The token is the administrator's, whichever user is impersonated.
    ({ method, path }) => method === 'GET' && !path.startsWith('/personal_access_tokens'),
  );
  const wrong: string[] = [];
  for (const row of reads) {
    for (const line of row.lines.filter(({ subject }) => subject === '-' || subject === 'private')) {
      const names = { ...fixtures.names, ...subjectOf(fixtures, row, line), new: 0, n: 0 };
      const ask = async (column: Column) => {
        const expected = line.expected[column]?.status;
        if (expected === undefined) return;
        const { status } = await send(fixtures, { token: service.rootToken, sudo: column }, row, names);
        if (status !== expected) wrong.push(`${row.endpoint}, ${line.subject}, ${column}: ${status}`);
      };
      await Promise.all((['strg', 'gust', 'dev'] as const).map(ask));
    }
  }
  expect(wrong).toEqual([]);
});

describe('access changes between two requests when', () => {
  const get = (path: string, token: string) => service.call('GET', path, { token });
  const project = () => `/projects/${fixtures.projects.private['id']}`;
  const file = () => `${project()}/repository/files/README.md?ref=${fixtures.projects.private['branch']}`;
  const DAY = 86_400_000;
  const day = (n: number) => new Date(Date.now() + n * DAY).toISOString().slice(0, 10);
  const later = (days: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY });
  let count = 0;
  /** A new user, with a token of scope `api`. */
  const newUser = () => service.user(`passing-${++count}`);
  const join = (kind: 'project' | 'group', id: number, userId: number, expiresAt: string | null) =>
    fixtures.store.members.add({
      source: { kind, id },
      userId,
      accessLevel: 30,
      createdAt: new Date().toISOString(),
      expiresAt,
      createdById: null,
    });

  test('a token is revoked', async () => {
    const { id, token } = await tokenOf(service, Number(fixtures.names['dev']), 'api');
    expect((await get(project(), token)).status).toBe(200);
    await service.call('DELETE', `/personal_access_tokens/${id}`, { token: service.rootToken });
    for (const path of [project(), '/version', '/projects', '/openapi.json'])
      expect(await get(path, token)).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
  });

  test('a token expires', async () => {
    const path = `/users/${fixtures.names['dev']}/personal_access_tokens`;
    const json = { name: 'short', scopes: ['api'], expires_at: day(1) };
    const { token } = (await service.call('POST', path, { token: service.rootToken, json })).body;
    expect((await get(project(), token)).status).toBe(200);
    later(1);
    expect(await get(project(), token)).toMatchObject({
      status: 401,
      body: { error: 'invalid_token', error_description: expect.stringMatching(/^Token is expired/) },
    });
  });

  test('the scopes of a token change', async () => {
    const { token } = await tokenOf(service, Number(fixtures.names['dev']), 'api');
    const scopes = (...scopes: TokenScope[]) =>
      fixtures.store.table.update({ update: tokenKey(tokenHash(token)), set: { scopes } });
    const statuses = async () => [(await get('/user', token)).status, (await get(file(), token)).status];
    expect(await statuses()).toEqual([200, 200]);
    await scopes('read_repository');
    expect(await statuses()).toEqual([403, 200]);
    await scopes('read_user');
    expect(await statuses()).toEqual([200, 403]);
    await scopes('api');
    expect(await statuses()).toEqual([200, 200]);
  });

  test.each([
    ['blocked', 'Your account has been blocked.'],
    ['banned', 'Your account has been blocked.'],
    ['deactivated', 'Your account has been deactivated by your administrator.'],
  ] as const)('an account is %s', async (state, why) => {
    const { id, token } = await newUser();
    const become = async (to: UserRecord['state']) =>
      fixtures.store.users.update((await fixtures.store.users.get(id))!, { state: to });
    const paths = ['/user', '/version', '/projects', `/projects/${fixtures.projects.public['id']}`];
    for (const path of paths) expect((await get(path, token)).status).toBe(200);
    await become(state);
    for (const path of paths) {
      const answer = await get(path, token);
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain(`403 Forbidden - ${why}`);
    }
    await become('active');
    for (const path of paths) expect((await get(path, token)).status).toBe(200);
  });

  test.each(['project', 'group'] as const)('a membership in a %s expires', async (kind) => {
    const { id, token } = await newUser();
    const place = fixtures.projects.private[kind === 'project' ? 'id' : 'parent'];
    await join(kind, Number(place), id, day(2));
    const shown = async () => [
      (await get(project(), token)).status,
      (await get(file(), token)).status,
      Number((await get('/projects?visibility=private&per_page=1', token)).headers.get('x-total')) > 0,
    ];
    expect(await shown()).toEqual([200, 200, true]);
    later(2);
    expect(await shown()).toEqual([404, 404, false]);
  });

  test('a share expires', async () => {
    const { id, token } = await newUser();
    const group = await service.call('POST', '/groups', {
      token: fixtures.tokens.ownr!,
      json: { name: 'guests for a day', path: 'guests-for-a-day' },
    });
    await join('group', group.body.id, id, null);
    const { shares } = (await fixtures.store.projects.get(Number(fixtures.projects.private['id'])))!;
    const share = {
      groupId: group.body.id,
      accessLevel: 20,
      expiresAt: day(2),
      createdAt: new Date().toISOString(),
    };
    const update = projectKey(Number(fixtures.projects.private['id']));
    await fixtures.store.table.update({ update, set: { shares: [...shares, share] } });
    expect((await get(file(), token)).status).toBe(200);
    later(2);
    expect((await get(file(), token)).status).toBe(404);
  });

  test('a user is no longer administrator', async () => {
    const { id, token } = await service.user('passing-admin', { admin: true });
    const sudo = await tokenOf(service, id, 'api', 'sudo');
    const asks = async () => [
      (await get(`/users?extern_uid=1&provider=x`, token)).status,
      (await get(project(), token)).status,
      (await service.call('GET', '/user', { token: sudo.token, headers: { Sudo: 'dev' } })).status,
    ];
    expect(await asks()).toEqual([200, 200, 200]);
    await fixtures.store.users.update((await fixtures.store.users.get(id))!, { admin: false });
    expect(await asks()).toEqual([403, 404, 403]);
  });

  test('a project becomes private', async () => {
    const made = await service.call('POST', '/projects', {
      token: fixtures.tokens.ownr!,
      json: { name: 'turns', visibility: 'public', initialize_with_readme: true },
    });
    const path = `/projects/${made.body.id}`;
    const asks = async () => [
      (await get(path, fixtures.tokens.strg!)).status,
      (await service.call('GET', `${path}/repository/tree`)).status,
    ];
    expect(await asks()).toEqual([200, 200]);
    await fixtures.store.projects.update((await fixtures.store.projects.get(made.body.id))!, {
      visibility: 'private',
    });
    expect(await asks()).toEqual([404, 404]);
  });
});
