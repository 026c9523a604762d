import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarios } from '../harness/scenarios.ts';
import { type Service, startService } from '../harness/service.ts';
import { ask, makeWorld, type Who, type World } from '../harness/world.ts';

let service: Service;
let world: World;
beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
});
afterAll(() => service.stop());

const BAD = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;
const NARROW = { read_user: 403, read_repository: 403, write_repository: 403 } as const;
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
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

describe('creation', () => {
  scenarios(
    () => world,
    [
      {
        request: 'POST /users/{stranger}/personal_access_tokens',
        json: { name: 'given', scopes: ['api'] },
        as: {
          anonymous: 401,
          stranger: 403,
          owner: 403,
          administrator: 201,
          ...BAD,
          ...NARROW,
          read_api: 403,
        },
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
        as: { stranger: 403, administrator: { status: 404, holds: { message: '404 User Not Found' } } },
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
  ])('%j is refused', async (json, status, body) => {
    const answer = await as(
      'administrator',
      'POST',
      `/users/${world.ids['stranger']}/personal_access_tokens`,
      json,
    );
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test('a token works with its scopes, in every way of showing it, until it is revoked', async () => {
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

describe('lists', () => {
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
  test.each(owners)('%s /personal_access_tokens%s', async (who, query, expected) => {
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

  test('an expired token is listed as no longer active', async () => {
    const { body } = await as('owner', 'GET', '/personal_access_tokens');
    const expired = body.find((token: { name: string }) => token.name === 'expired');
    expect(expired).toMatchObject({ active: false, revoked: false });
  });
});

describe('others’ tokens are not there', () => {
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
  ] as [string, Who, number, object | null][])('%s by %s: %i', async (method, who, status, holds) => {
    const answer = await as(who, method, path());
    expect(answer.status).toBe(status);
    if (holds === null) expect(answer.body).toBeNull();
    else expect(answer.body).toMatchObject(holds);
  });

  test.each(['GET', 'DELETE'])('%s of one that nobody has says the same', async (method) => {
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

describe('self', () => {
  test.each(['read_user', 'read_repository', 'write_repository', 'read_api', 'owner'] as const)(
    '%s sees itself',
    async (who) => {
      const { status, body } = await as(who, 'GET', '/personal_access_tokens/self');
      expect([status, body.user_id, Object.keys(body).sort()]).toEqual([200, world.ids['owner'], FIELDS]);
    },
  );
  test('revokes itself, and is no good from then on', async () => {
    const { token } = await made('stranger', { scopes: ['read_repository'] });
    expect((await service.call('DELETE', '/personal_access_tokens/self', { token })).status).toBe(204);
    expect((await service.call('GET', '/personal_access_tokens/self', { token })).body).toMatchObject({
      error: 'invalid_token',
      error_description: 'Token was revoked. You have to re-authorize from the user.',
    });
  });
  test('is for nobody without one', async () => {
    expect((await as('anonymous', 'GET', '/personal_access_tokens/self')).status).toBe(401);
    expect((await as('anonymous', 'DELETE', '/personal_access_tokens/self')).status).toBe(401);
  });
});

test('If-Unmodified-Since before its creation keeps a token', async () => {
  const { id } = await made('stranger', {});
  const answer = await service.call('DELETE', `/personal_access_tokens/${id}`, {
    token: world.tokens.stranger!,
    headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' },
  });
  expect([answer.status, answer.body]).toEqual([412, { message: '412 Precondition Failed' }]);
  expect((await as('stranger', 'GET', `/personal_access_tokens/${id}`)).body.active).toBe(true);
});

test('a user who is blocked is out at once, with every token', async () => {
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

async function made(who: 'stranger', options: object): Promise<{ id: number; token: string }> {
  const json = { name: 'made', scopes: ['api'], ...options };
  const answer = await as('administrator', 'POST', `/users/${world.ids[who]}/personal_access_tokens`, json);
  expect(answer.status).toBe(201);
  return answer.body;
}

function as(who: Who, method: string, path: string, json?: unknown) {
  return ask(world, who, method, path, json);
}
