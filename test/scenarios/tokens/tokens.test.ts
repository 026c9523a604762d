import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { SYSTEM } from '../../../lib/domain/audit-events/event.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import { cachedSettings } from '../../../lib/domain/settings/current.ts';
import { rotateToken } from '../../../lib/domain/tokens/tokens.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { ADMIN_ONLY, absent, NARROW } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld();
afterEach(() => vi.useRealTimers());

const FIELDS = [
  'active',
  'created_at',
  'expires_at',
  'id',
  'last_used_at',
  'name',
  'revoked',
  'scopes',
  'user_id',
];
/** Of tokens that administrators make for others. */
const MAKERS = { ...ADMIN_ONLY, administrator: 201, ...NARROW, read_api: 403 } as const;
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

describe('creating a personal token', () => {
  scenarios(
    () => world,
    [
      {
        request: 'POST /users/{stranger}/personal_access_tokens',
        json: { name: 'given', scopes: ['api'] },
        as: MAKERS,
        holds: {
          name: 'given',
          scopes: ['api'],
          active: true,
          revoked: false,
          expires_at: null,
          last_used_at: null,
        },
        hides: ['glpat-'],
        look: ({ status, body }) => {
          if (status !== 201) return;
          expect(Object.keys(body).sort()).toEqual([...FIELDS, 'token'].sort());
          expect(body.token).toMatch(/^glpat-[A-Za-z0-9_-]{20}$/);
        },
      },
      {
        request: 'POST /users/999999/personal_access_tokens',
        json: { name: 'given', scopes: ['api'] },
        as: { stranger: 403, administrator: absent('User') },
      },
    ],
  );

  test.each([
    [{}, 400, { error: 'name is missing, scopes is missing, scopes is empty' }],
    [{ name: 'a', scopes: [] }, 400, { error: 'scopes is empty' }],
    [{ name: 'a', scopes: ['everything'] }, 400, { error: 'scopes does not have a valid value' }],
    [{ name: 'a', scopes: 'api,everything' }, 400, { error: 'scopes does not have a valid value' }],
    [{ name: 'a', scopes: { a: 1 } }, 400, { error: 'scopes is invalid' }],
    [{ name: 'a', scopes: ['api'], expires_at: 'soon' }, 400, { error: 'expires_at is invalid' }],
    [{ name: ' ', scopes: ['api'] }, 422, { message: "Name can't be blank" }],
    [
      { name: 'x'.repeat(256), scopes: ['api'] },
      400,
      { error: 'name is too long (maximum is 255 characters)' },
    ],
    [
      { name: 'a', scopes: ['api'], expires_at: '2020-01-01' },
      422,
      { message: 'Expires at cannot be a date in the past' },
    ],
  ])('with %j is refused', async (json, status, body) => {
    const answer = await as(
      'administrator',
      'POST',
      `/users/${world.ids['stranger']}/personal_access_tokens`,
      json,
    );
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test('a personal token works with its scopes in every header until it is revoked', async () => {
    const { id, token } = await made('stranger', {
      scopes: ['read_user', 'read_user'],
      expires_at: tomorrow(),
    });
    const basic = Buffer.from(`stranger:${token}`).toString('base64');
    const ways: [string, Record<string, string>][] = [
      ['/user', { 'PRIVATE-TOKEN': token }],
      ['/user', { 'private-token': ` ${token} ` }],
      ['/user', { Authorization: `Bearer ${token}` }],
      ['/user', { Authorization: `bearer ${token}` }],
      ['/user', { Authorization: `Basic ${basic}` }],
      [`/user?private_token=${token}`, {}],
      [`/user?access_token=${token}`, {}],
    ];
    for (const [path, headers] of ways) {
      const answer = await service.call('GET', path, { headers });
      expect([path, headers, answer.status, answer.body?.username]).toEqual([path, headers, 200, 'stranger']);
    }
    const shown = await as('stranger', 'GET', `/personal_access_tokens/${id}`);
    expect(shown.body).toMatchObject({
      scopes: ['read_user'],
      expires_at: tomorrow(),
      last_used_at: expect.any(String),
    });
    expect((await as('stranger', 'DELETE', `/personal_access_tokens/${id}`)).status).toBe(204);
    for (const [path, headers] of ways) {
      const answer = await service.call('GET', path, { headers });
      expect([path, answer.status, answer.body.error]).toEqual([path, 401, 'invalid_token']);
      expect(answer.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="The API", error="invalid_token"/,
      );
    }
    expect((await as('stranger', 'GET', `/personal_access_tokens/${id}`)).body).toMatchObject({
      revoked: true,
      active: false,
    });
  });
});

describe('lists of personal tokens', () => {
  const owners: [Who, string, 'self' | 'all' | number][] = [
    ['stranger', '', 'self'],
    ['external', '', 'self'],
    ['owner', '', 'self'],
    ['read_api', '', 'self'],
    ['administrator', '', 'all'],
    ['stranger', '?user_id={stranger}', 'self'],
    ['stranger', '?user_id={owner}', 401],
    ['stranger', '?user_id=999999', 401],
    ['administrator', '?user_id={stranger}', 'self'],
    ['administrator', '?user_id=999999', 404],
    ['stranger', '?user_id=x', 400],
    ['anonymous', '', 401],
    ['read_user', '', 403],
    ['expired', '', 401],
    ['revoked', '', 401],
    ['blocked', '', 403],
  ];
  test.each(owners)('for %s have in /personal_access_tokens%s', async (who, query, expected) => {
    const path = `/personal_access_tokens${query.replace(/\{(\w+)\}/, (_, name: string) => String(world.ids[name]))}`;
    const { status, body, headers } = await as(who, 'GET', path);
    if (typeof expected === 'number') {
      expect(status).toBe(expected);
      expect(JSON.stringify(body)).not.toContain('scopes');
      return;
    }
    expect(status).toBe(200);
    const users = new Set(body.map((token: { user_id: number }) => token.user_id));
    if (expected === 'all') expect(users.size).toBeGreaterThan(5);
    else {
      const name = query !== '' ? 'stranger' : who === 'read_api' ? 'owner' : who;
      expect([...users]).toEqual([world.ids[name]]);
      expect(headers.get('x-total')).toBe(String(body.length));
    }
    for (const token of body) expect(Object.keys(token).sort()).toEqual(FIELDS);
  });

  test('show an expired token as inactive', async () => {
    const { body } = await as('owner', 'GET', '/personal_access_tokens');
    const expired = body.find((token: { name: string }) => token.name === 'expired');
    expect(expired).toMatchObject({ active: false, revoked: false });
  });
});

describe('the personal tokens of other users', () => {
  const tokenOf: Record<string, number> = {};
  beforeAll(async () => {
    tokenOf['stranger'] = (await made('stranger', {})).id;
  });
  const path = () => `/personal_access_tokens/${tokenOf['stranger']}`;
  const NOT_FOUND = { message: '404 Not Found' };
  const BAD_REQUEST = { message: '400 Bad request' };
  test.each([
    ['GET', 'anonymous', 401, { message: '401 Unauthorized' }],
    ['GET', 'owner', 404, NOT_FOUND],
    ['GET', 'read_api', 404, NOT_FOUND],
    ['GET', 'stranger', 200, { name: 'made' }],
    ['GET', 'administrator', 200, { name: 'made' }],
    ['DELETE', 'anonymous', 401, { message: '401 Unauthorized' }],
    ['DELETE', 'owner', 400, BAD_REQUEST],
    ['DELETE', 'external', 400, BAD_REQUEST],
    ['DELETE', 'read_api', 403, { error: 'insufficient_scope' }],
    ['DELETE', 'blocked', 403, {}],
    ['GET', 'stranger', 200, { revoked: false }],
    ['DELETE', 'administrator', 204, null],
    ['DELETE', 'stranger', 204, null],
    ['GET', 'stranger', 200, { revoked: true }],
  ] as [string, Who, number, object | null][])('for %s by %s: %i', async (method, who, status, holds) => {
    const answer = await as(who, method, path());
    expect(answer.status).toBe(status);
    if (holds === null) expect(answer.body).toBeNull();
    else expect(answer.body).toMatchObject(holds);
  });

  test.each(['GET', 'DELETE'])('answer %s as an unknown id does', async (method) => {
    const other = await made('stranger', {});
    for (const who of ['owner', 'administrator'] as const) {
      const absent = await as(who, method, '/personal_access_tokens/999999');
      if (who === 'administrator') expect([absent.status, absent.body]).toEqual([404, NOT_FOUND]);
      else {
        const hidden = await as(who, method, `/personal_access_tokens/${other.id}`);
        expect([absent.status, absent.body]).toEqual([hidden.status, hidden.body]);
      }
    }
  });
});

describe('the endpoint of the token in use', () => {
  test.each(['read_user', 'read_repository', 'write_repository', 'read_api', 'owner'] as const)(
    'shows it to %s',
    async (who) => {
      const { status, body } = await as(who, 'GET', '/personal_access_tokens/self');
      expect([status, body.user_id, Object.keys(body).sort()]).toEqual([200, world.ids['owner'], FIELDS]);
    },
  );
  test('revokes it at once', async () => {
    const { token } = await made('stranger', { scopes: ['read_repository'] });
    expect((await service.call('DELETE', '/personal_access_tokens/self', { token })).status).toBe(204);
    expect((await service.call('GET', '/personal_access_tokens/self', { token })).body).toMatchObject({
      error: 'invalid_token',
      error_description: 'Token was revoked. You have to re-authorize from the user.',
    });
  });
  test('answers 401 without a token', async () => {
    expect((await as('anonymous', 'GET', '/personal_access_tokens/self')).status).toBe(401);
    expect((await as('anonymous', 'DELETE', '/personal_access_tokens/self')).status).toBe(401);
  });
});

test('respects If-Unmodified-Since', async () => {
  const { id } = await made('stranger', {});
  const answer = await service.call('DELETE', `/personal_access_tokens/${id}`, {
    token: world.tokens.stranger!,
    headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' },
  });
  expect([answer.status, answer.body]).toEqual([412, { message: '412 Precondition Failed' }]);
  expect((await as('stranger', 'GET', `/personal_access_tokens/${id}`)).body.active).toBe(true);
});

test('all tokens of a blocked user stop working at once', async () => {
  const user = await service.user('soon-blocked');
  const get = () => service.call('GET', '/user', { token: user.token });
  expect((await get()).status).toBe(200);
  for (const [state, reason] of [
    ['blocked', 'Your account has been blocked.'],
    ['banned', 'Your account has been blocked.'],
    ['deactivated', expect.stringMatching(/^403 Forbidden - Your account has been deactivated/)],
  ] as const) {
    const record = (await world.store.users.get(user.id))!;
    await world.store.users.update(record, { state });
    const answer = await get();
    const message = typeof reason === 'string' ? `403 Forbidden - ${reason}` : reason;
    expect([state, answer.status, answer.body]).toEqual([state, 403, { message }]);
    for (const path of [
      '/projects',
      `/projects/${world.ids['public']}`,
      '/users?username=guest',
      '/personal_access_tokens/self',
    ]) {
      expect([path, (await service.call('GET', path, { token: user.token })).status]).toEqual([path, 403]);
    }
  }
});

describe('times of personal tokens', () => {
  test('a token expires at the start of its day in UTC', async () => {
    const { id, token } = await made('stranger', { scopes: ['read_user'], expires_at: tomorrow() });
    const ends = new Date(`${tomorrow()}T00:00:00.000Z`).getTime();
    const get = () => service.call('GET', '/user', { token });
    vi.useFakeTimers({ toFake: ['Date'], now: ends - 1 });
    expect((await get()).status).toBe(200);
    vi.setSystemTime(ends);
    expect([(await get()).status, (await get()).body.error]).toEqual([401, 'invalid_token']);
    expect((await as('stranger', 'GET', `/personal_access_tokens/${id}`)).body).toMatchObject({
      active: false,
      revoked: false,
    });
  });

  test('the last use is recorded at the first request of a day', async () => {
    const { token } = await made('stranger', {});
    const used = async () =>
      (await service.call('GET', '/personal_access_tokens/self', { token })).body.last_used_at;
    const noon = new Date(`${tomorrow()}T12:00:00.000Z`);
    await used();
    vi.useFakeTimers({ toFake: ['Date'], now: noon });
    await used();
    expect(await used()).toBe(noon.toISOString());
    vi.setSystemTime(noon.getTime() + 60_000);
    await used();
    expect(await used()).toBe(noon.toISOString());
  });
});

test('lists of tokens can be filtered by time and sorted', async () => {
  const ids: Record<string, number> = {};
  for (const name of ['one Laptop', 'two laptop', 'three']) {
    ids[name] = (await madeBy('external', { name, expires_at: name === 'three' ? '2099-06-01' : null })).id;
  }
  await as('administrator', 'DELETE', `/personal_access_tokens/${ids['two laptop']}`);
  const names = async (query: string) => {
    const answer = await service.call('GET', `/personal_access_tokens?${query}`, {
      token: world.tokens.external!,
    });
    return answer.status === 200
      ? answer.body.map(({ name }: { name: string }) => name).filter((name: string) => name !== 'test')
      : answer.body;
  };
  expect(await names('')).toEqual(['one Laptop', 'two laptop', 'three']);
  expect(await names('sort=created_desc')).toEqual(['three', 'two laptop', 'one Laptop']);
  expect(await names('search=LAPTOP')).toEqual(['one Laptop', 'two laptop']);
  expect(await names('revoked=true')).toEqual(['two laptop']);
  expect(await names('revoked=false')).toEqual(['one Laptop', 'three']);
  expect(await names('state=inactive')).toEqual(['two laptop']);
  expect(await names('state=active&search=laptop')).toEqual(['one Laptop']);
  expect(await names('last_used_after=2020-01-01')).toEqual([]);
  expect(await names('created_after=2020-01-01&created_before=2099-01-01')).toHaveLength(3);
  expect(await names('created_before=2020-01-01')).toEqual([]);
  expect(await names('expires_after=2099-01-01')).toEqual(['three']);
  expect(await names('expires_before=2099-06-01')).toEqual([]);
  expect(await names('state=dead')).toEqual({ error: 'state does not have a valid value' });
  expect(await names('sort=name_asc')).toEqual({ error: 'sort does not have a valid value' });
});

describe('impersonation tokens', () => {
  scenarios(
    () => world,
    [
      {
        request: 'POST /users/{stranger}/impersonation_tokens',
        json: { name: 'as them', scopes: ['api'] },
        as: MAKERS,
        holds: { name: 'as them', scopes: ['api'], impersonation: true, active: true, revoked: false },
        look: ({ status, body }) => {
          if (status === 201)
            expect(Object.keys(body).sort()).toEqual([...FIELDS, 'impersonation', 'token'].sort());
        },
      },
      {
        request: 'GET /users/{stranger}/impersonation_tokens',
        as: { anonymous: 401, stranger: 403, administrator: 200 },
      },
      {
        request: 'GET /users/999999/impersonation_tokens',
        as: { administrator: absent('User') },
      },
      {
        request: 'GET /users/{stranger}/impersonation_tokens/999999',
        as: {
          stranger: 403,
          administrator: absent('Impersonation Token'),
        },
      },
    ],
  );

  test.each([
    [{}, { error: 'name is missing' }],
    [{ name: 'a', scopes: ['all'] }, { error: 'scopes does not have a valid value' }],
    [{ name: 'a' }, { message: { scopes: ["can't be blank"] } }],
    [{ name: ' ', scopes: ['api'] }, { message: { name: ["can't be blank"] } }],
    [
      { name: 'a', scopes: ['api'], expires_at: '2020-01-01' },
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
  ])('are refused with %j', async (json, body) => {
    const path = `/users/${world.ids['stranger']}/impersonation_tokens`;
    const answer = await as('administrator', 'POST', path, json);
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test.each(['personal_access_tokens', 'impersonation_tokens'])(
    'of today is accepted as the end of %s, which have ended then',
    async (kind) => {
      const expires_at = new Date().toISOString().slice(0, 10);
      const json = { name: 'today', scopes: ['api'], expires_at };
      const answer = await as('administrator', 'POST', `/users/${world.ids['stranger']}/${kind}`, json);
      expect([answer.status, answer.body]).toMatchObject([201, { expires_at, active: false }]);
    },
  );

  test('act as the user, who can neither see nor revoke them', async () => {
    const base = `/users/${world.ids['stranger']}/impersonation_tokens`;
    const json = { name: 'hidden', scopes: ['api'] };
    const { id, token } = (await as('administrator', 'POST', base, json)).body;
    expect((await service.call('GET', '/user', { token })).body.username).toBe('stranger');
    const record = (await world.store.tokens.get(id))!;
    expect(record).toMatchObject({ createdById: world.ids['administrator'], impersonation: true });
    const listed = await as('stranger', 'GET', '/personal_access_tokens?per_page=100');
    expect(JSON.stringify(listed.body)).not.toContain('hidden');
    expect((await as('stranger', 'GET', `/personal_access_tokens/${id}`)).status).toBe(404);
    expect((await as('stranger', 'DELETE', `/personal_access_tokens/${id}`)).status).toBe(400);
    expect((await as('stranger', 'POST', `/personal_access_tokens/${id}/rotate`)).status).toBe(401);
    const other = `/users/${world.ids['owner']}/impersonation_tokens/${id}`;
    for (const method of ['GET', 'DELETE'])
      expect((await as('administrator', method, other)).status).toBe(404);
    const ids = async (state: string) =>
      (await as('administrator', 'GET', `${base}?state=${state}&per_page=100`)).body.map(
        (one: { id: number }) => one.id,
      );
    expect([(await ids('active')).includes(id), (await ids('inactive')).includes(id)]).toEqual([true, false]);
    expect((await as('administrator', 'DELETE', `${base}/${id}`)).status).toBe(204);
    expect([(await ids('active')).includes(id), (await ids('inactive')).includes(id)]).toEqual([false, true]);
    expect((await ids('all')).includes(id)).toBe(true);
    expect((await service.call('GET', '/user', { token })).status).toBe(401);
    const shown = await as('administrator', 'GET', `${base}/${id}`);
    expect(shown.body).toMatchObject({ id, revoked: true, active: false, impersonation: true });
  });
});

describe('rotating a token', () => {
  const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
  const works = async (token: string) => (await service.call('GET', '/user', { token })).status === 200;

  test('revokes it and creates one with the same attributes', async () => {
    const old = await made('stranger', { name: 'turning', scopes: ['api', 'sudo'] });
    const turned = await as('stranger', 'POST', `/personal_access_tokens/${old.id}/rotate`);
    expect([turned.status, Object.keys(turned.body).sort()]).toEqual([200, [...FIELDS, 'token'].sort()]);
    expect(turned.body).toMatchObject({
      name: 'turning',
      scopes: ['api', 'sudo'],
      expires_at: inAWeek(),
      active: true,
      last_used_at: null,
    });
    expect([await works(old.token), await works(turned.body.token)]).toEqual([false, true]);
    const self = await service.call('POST', '/personal_access_tokens/self/rotate', {
      token: turned.body.token,
      json: { expires_at: tomorrow() },
    });
    expect([self.status, self.body.expires_at, self.body.name]).toEqual([200, tomorrow(), 'turning']);
    expect([await works(turned.body.token), await works(self.body.token)]).toEqual([false, true]);
  });

  test('and then using the old one again revokes the successor', async () => {
    const old = await made('stranger', {});
    const rotate = (token: string) => service.call('POST', '/personal_access_tokens/self/rotate', { token });
    const second = (await rotate(old.token)).body;
    const third = (await rotate(second.token)).body;
    // Merely used, it is refused.
    expect((await service.call('GET', '/user', { token: old.token })).status).toBe(401);
    expect(await works(third.token)).toBe(true);
    const again = await rotate(old.token);
    expect([again.status, again.body.error]).toEqual([401, 'invalid_token']);
    expect(await works(third.token)).toBe(false);

    const other = await made('stranger', {});
    const path = `/personal_access_tokens/${other.id}/rotate`;
    const next = (await as('stranger', 'POST', path)).body;
    const refused = await as('stranger', 'POST', path);
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: '400 Bad request - token already revoked' },
    ]);
    expect(await works(next.token)).toBe(false);
  });

  test('twice at once succeeds once, and the new token works', async () => {
    const old = await made('stranger', {});
    const record = (await world.store.tokens.get(old.id))!;
    const settings = cachedSettings(world.store.settings, world.store.environment);
    const deps = { store: world.store, settings, now: () => new Date() } as Deps;
    // Both have read the token before either has replaced it.
    const both = await Promise.allSettled([1, 2].map(() => rotateToken(deps, SYSTEM, record, undefined)));
    const won = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value.text] : []));
    const lost = both.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []));
    expect([won.length, lost]).toEqual([1, ['409 Conflict: Resource lock']]);
    expect(await works(won[0]!)).toBe(true);
  });

  test.each([
    ['anonymous', 401, { message: '401 Unauthorized' }],
    ['owner', 401, { message: '401 Unauthorized' }],
    ['read_api', 403, { error: 'insufficient_scope' }],
    ['blocked', 403, {}],
    ['administrator', 200, { name: 'made' }],
  ] as [Who, number, object][])('of another user by %s is answered with %i', async (who, status, holds) => {
    const { id, token } = await made('stranger', {});
    const answer = await as(who, 'POST', `/personal_access_tokens/${id}/rotate`);
    expect([answer.status, answer.body]).toMatchObject([status, holds]);
    expect(await works(token)).toBe(status !== 200);
  });

  test('to a date in the past, or to today, is refused and keeps the token', async () => {
    const { id, token } = await made('stranger', {});
    const path = `/personal_access_tokens/${id}/rotate`;
    for (const expires_at of ['2020-01-01', new Date().toISOString().slice(0, 10)]) {
      const answer = await as('stranger', 'POST', path, { expires_at });
      expect([answer.status, answer.body]).toEqual([
        422,
        { message: 'Expires at cannot be a date in the past' },
      ]);
    }
    expect((await as('administrator', 'POST', '/personal_access_tokens/999999/rotate')).status).toBe(404);
    expect(await works(token)).toBe(true);
  });
});

const made = (who: 'stranger', options: object) => madeBy(who, options);

async function madeBy(who: Who, options: object): Promise<{ id: number; token: string }> {
  const json = { name: 'made', scopes: ['api'], ...options };
  const answer = await as('administrator', 'POST', `/users/${world.ids[who]}/personal_access_tokens`, json);
  expect(answer.status).toBe(201);
  return answer.body;
}
