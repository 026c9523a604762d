import { describe, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { absent, BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

const SECRETS = [
  'email',
  'identities',
  'confirmed_at',
  'projects_limit',
  'is_admin',
  'note',
  'last_sign_in_at',
];
const own = (answer: { status: number; body: Record<string, unknown> | null }) => {
  if (answer.status !== 200) return;
  for (const name of SECRETS) expect(answer.body).not.toHaveProperty(name);
};

describe('showing one user', () =>
  scenarios(
    () => world,
    [
      {
        request: 'GET /user',
        as: {
          anonymous: 401,
          stranger: 200,
          external: 200,
          former: 200,
          owner: 200,
          administrator: 200,
          ...BAD,
          read_user: 200,
          read_api: 200,
          read_repository: 403,
          write_repository: 403,
        },
        holds: (_, who) => ({
          username: who === 'administrator' ? 'root' : /^read/.test(who) ? 'owner' : who,
        }),
        look: ({ status, body }, _, who) => {
          if (status !== 200) return;
          expectSchema('user/public', body);
          expect('is_admin' in body).toBe(who === 'administrator');
          expect(body.password).toBeUndefined();
        },
      },
      {
        request: 'GET /users/{guest}',
        as: {
          anonymous: { status: 403, holds: { message: '403 Forbidden - Not authorized!' } },
          stranger: 200,
          guest: 200,
          external: 200,
          owner: 200,
          ...BAD,
          read_user: 200,
          read_repository: 403,
        },
        holds: { username: 'guest', state: 'active' },
        look: own,
      },
      {
        request: 'GET /users/{guest}',
        as: { administrator: 200 },
        holds: {
          email: 'guest@example.com',
          is_admin: false,
          highest_role: 10,
          confirmed_at: expect.any(String),
        },
        look: ({ body }) => expectSchema('user/admin', body),
      },
      {
        request: 'GET /users/999999',
        as: {
          anonymous: { status: 403, holds: { message: '403 Forbidden - Not authorized!' } },
          stranger: absent('User'),
          administrator: absent('User'),
        },
      },
      {
        request: 'GET /users/root',
        as: {
          anonymous: { status: 404, holds: { error: '404 Not Found' } },
          stranger: { status: 404, holds: { error: '404 Not Found' } },
        },
      },
    ],
  ));

describe('lists of users', () => {
  scenarios(
    () => world,
    [
      {
        request: 'GET /users',
        as: {
          anonymous: {
            status: 403,
            holds: { message: '403 Forbidden - Not authorized to access /api/v4/users' },
          },
          stranger: 200,
          external: 200,
          ...BAD,
          read_user: 200,
          read_repository: 403,
        },
        look: (answer) => {
          if (answer.status !== 200) return;
          expectSchema('user/basics', answer.body);
          expect(Object.keys(answer.body[0]).sort()).toEqual(
            ['avatar_url', 'id', 'name', 'state', 'username', 'web_url'].sort(),
          );
          expect(answer.headers.get('x-total')).toBe('10');
        },
      },
      {
        request: 'GET /users',
        as: { administrator: 200 },
        look: ({ body }) => expectSchema('user/admins', body),
      },
      {
        request: 'GET /users?username=GUEST',
        as: { anonymous: 200, stranger: 200, administrator: 200, expired: 401 },
        holds: [{ username: 'guest' }],
        look: (answer, _, who) => {
          if (who === 'anonymous') own({ ...answer, body: answer.body[0] });
        },
      },
      {
        request: 'GET /users?username=gues',
        as: { anonymous: 200, administrator: 200 },
        look: ({ body }) => expect(body).toEqual([]),
      },
      {
        request: 'GET /users?extern_uid=1&provider=x',
        as: { anonymous: 403, stranger: 403, administrator: 200 },
        look: ({ status, body }) => status === 200 && expect(body).toEqual([]),
      },
      {
        request: 'GET /users?extern_uid=1',
        as: {
          stranger: {
            status: 400,
            holds: { error: 'extern_uid, provider provide all or none of parameters' },
          },
        },
      },
    ],
  );

  test.each([
    ['blocked=true', ['blocked'], ['blocked']],
    ['active=true&external=true', ['external'], ['external']],
    ['blocked=true&active=true', [], []],
    // Every spelling of a boolean counts, and false is no filter.
    ['blocked=1', ['blocked'], ['blocked']],
    ['blocked=T', ['blocked'], ['blocked']],
    ['active=yes&external=on', ['external'], ['external']],
    ['active=false&blocked=0&external=n&username=owner', ['owner'], ['owner']],
    ['exclude_internal=f&username=ghost', ['ghost'], ['ghost']],
    ['humans=true&username=ghost', [], []],
    ['humans=true&username=owner', ['owner'], ['owner']],
    ['exclude_humans=true', ['ghost'], ['ghost']],
    ['exclude_active=1&external=1', [], []],
    ['exclude_active=1&username=blocked', ['blocked'], ['blocked']],
    ['exclude_external=yes&username=external', [], []],
    ['search=MAIN', ['maintainer'], ['maintainer']],
    ['search=guest@example.com', [], ['guest']],
    ['search=guest@example', [], []],
    ['search=e.com', [], []],
    // What only administrators may ask is not heard from others.
    ['admins=true&username=guest', ['guest'], []],
    ['created_after=2100-01-01&username=guest', ['guest'], []],
    ['without_projects=true&username=owner', ['owner'], []],
    ['two_factor=enabled&username=owner', ['owner'], []],
    ['username=', [], []],
    ['username=owner&search=own', ['owner'], ['owner']],
    ['username=owner&search=nobody', [], []],
    ['username=owner&custom_attributes[a]=b', ['owner'], []],
  ])('with ?%s', async (query, stranger, administrator) => {
    await Promise.all([searchable(), world.store.users.ghost()]);
    const names = async (who: Who) => {
      const { status, body, headers } = await as(who, 'GET', `/users?${query}`);
      expect([status, headers.get('x-total')]).toEqual([200, String(body.length)]);
      return body.map((user: { username: string }) => user.username);
    };
    expect(await names('stranger')).toEqual(stranger);
    expect(await names('administrator')).toEqual(administrator);
  });

  test('can be sorted by administrators only', async () => {
    const names = async (who: Who) =>
      (await as(who, 'GET', '/users?order_by=username&sort=asc')).body.map(
        (user: { username: string }) => user.username,
      );
    const sorted = await names('administrator');
    expect(sorted).toEqual([...sorted].sort());
    const newestFirst = (await as('stranger', 'GET', '/users')).body.map(
      (user: { username: string }) => user.username,
    );
    expect(await names('stranger')).toEqual(newestFirst);
  });

  test.each(['order_by=email', 'sort=up', 'two_factor=maybe'])('refuse ?%s', async (query) => {
    const { status, body } = await as('stranger', 'GET', `/users?${query}`);
    expect([status, body]).toEqual([400, { error: `${query.split('=')[0]} does not have a valid value` }]);
  });

  test.each(['active=2', 'blocked=maybe', 'external=tRUE'])(
    'refuse ?%s, which is no boolean',
    async (query) => {
      const { status, body } = await as('stranger', 'GET', `/users?${query}`);
      expect([status, body]).toEqual([400, { error: `${query.split('=')[0]} is invalid` }]);
    },
  );
});

describe('creating a user', () => {
  const fresh = ((n) => () => {
    const username = `fresh-${++n}`;
    return { username, name: 'Fresh', email: `${username}@example.com`, force_random_password: true };
  })(0);
  scenarios(
    () => world,
    [
      {
        request: 'POST /users',
        json: fresh,
        as: {
          anonymous: 401,
          stranger: 403,
          maintainer: 403,
          owner: 403,
          administrator: 201,
          ...BAD,
          read_user: 403,
          read_api: 403,
        },
        holds: { is_admin: false, state: 'active', projects_limit: 100_000, external: false },
        look: ({ status, body }) => {
          if (status === 201) expectSchema('user/admin', body);
        },
      },
      {
        request: 'POST /users',
        json: {},
        as: { anonymous: 401, stranger: { status: 403, holds: { message: '403 Forbidden' } } },
      },
    ],
  );

  const TAKEN = { email: 'x1@example.com', name: 'X', username: 'x1', password: 'long enough' };
  test.each(
    [
      [
        {},
        400,
        {
          error:
            'email is missing, name is missing, username is missing, password, reset_password, force_random_password are missing, at least one parameter must be provided',
        },
      ],
      [{ ...TAKEN, email: 'Guest@Example.com' }, 409, { message: 'Email has already been taken' }],
      [{ ...TAKEN, username: 'GUEST' }, 409, { message: 'Username has already been taken' }],
      [
        { ...TAKEN, username: 'guest', email: 'guest@example.com' },
        409,
        { message: 'Email has already been taken' },
      ],
      [
        { ...TAKEN, password: undefined, reset_password: false, force_random_password: false },
        400,
        { message: { password: ["can't be blank"] } },
      ],
      [
        { ...TAKEN, password: 'short' },
        400,
        { message: { password: ['is too short (minimum is 8 characters)'] } },
      ],
      [
        { ...TAKEN, password: 'x'.repeat(129) },
        400,
        { message: { password: ['is too long (maximum is 128 characters)'] } },
      ],
      [{ ...TAKEN, email: 'none' }, 400, { message: { email: ['is invalid'] } }],
      [{ ...TAKEN, email: 'a@b@c' }, 400, { message: { email: ['is invalid'] } }],
      [{ ...TAKEN, email: `${'x'.repeat(300)}@example.com` }, 400, { message: { email: ['is invalid'] } }],
      [{ ...TAKEN, name: '' }, 400, { message: { name: ["can't be blank"] } }],
      [
        { ...TAKEN, name: 'x'.repeat(256) },
        400,
        { message: { name: ['is too long (maximum is 255 characters)'] } },
      ],
      [
        { ...TAKEN, username: 'a b' },
        400,
        { message: { username: [expect.stringContaining('can contain only')] } },
      ],
      [
        { ...TAKEN, username: 'a/b' },
        400,
        { message: { username: [expect.stringContaining('can contain only')] } },
      ],
      [
        { ...TAKEN, username: '..' },
        400,
        { message: { username: [expect.stringContaining('can contain only')] } },
      ],
      [{ ...TAKEN, username: 'API' }, 400, { message: { username: ['API is a reserved name'] } }],
      [
        { ...TAKEN, username: 'x'.repeat(256) },
        400,
        { message: { username: ['is too long (maximum is 255 characters)'] } },
      ],
      [
        { ...TAKEN, projects_limit: -1 },
        400,
        { message: { projects_limit: ['must be greater than or equal to 0'] } },
      ],
      [{ ...TAKEN, projects_limit: 'many' }, 400, { error: 'projects_limit is invalid' }],
      [{ ...TAKEN, admin: 'perhaps' }, 400, { error: 'admin is invalid' }],
      [
        { ...TAKEN, note: 'x'.repeat(500_000) },
        400,
        { error: 'note is too long (maximum is 10000 characters)' },
      ],
      [
        { ...TAKEN, extern_uid: '1' },
        400,
        { error: 'extern_uid, provider provide all or none of parameters' },
      ],
    ].map(([json, status, body]) => [JSON.stringify(json).slice(0, 80), json, status, body] as const),
  )('with %s is refused', async (_, json, status, body) => {
    const answer = await as('administrator', 'POST', '/users', json);
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test('that is refused leaves the names free', async () => {
    const made = await as('administrator', 'POST', '/users', TAKEN);
    expect(made.status).toBe(201);
    expect(JSON.stringify(made.body)).not.toContain('long enough');
  });

  test('returns the attributes as given', async () => {
    const given = {
      bio: 'who',
      location: 'here',
      organization: 'o',
      website_url: 'https://w.example',
      note: 'n',
      theme_id: 3,
    };
    const json = {
      ...fresh(),
      ...given,
      extern_uid: '77',
      provider: 'github',
      private_profile: true,
      skip_confirmation: true,
    };
    const { status, body } = await as('administrator', 'POST', '/users', json);
    expect([status, body]).toMatchObject([
      201,
      {
        ...given,
        private_profile: true,
        identities: [{ provider: 'github', extern_uid: '77' }],
        confirmed_at: expect.any(String),
      },
    ]);
    const found = await as('administrator', 'GET', '/users?extern_uid=77&provider=github');
    expect(found.body.map((user: { id: number }) => user.id)).toEqual([body.id]);
    const seen = await as('stranger', 'GET', `/users/${body.id}`);
    expect(seen.body).toMatchObject({ bio: 'who' });
    for (const name of ['created_at', 'followers', ...SECRETS]) expect(seen.body).not.toHaveProperty(name);
  });

  test('as external gives a project limit of zero', async () => {
    const json = { ...fresh(), external: true, can_create_group: true, projects_limit: 5 };
    const { body } = await as('administrator', 'POST', '/users', json);
    expect(body).toMatchObject({
      external: true,
      can_create_group: false,
      projects_limit: 0,
      can_create_project: false,
    });
  });

  test.each([
    ['username', (n: number) => ({ username: n % 2 ? 'Rival' : 'rival', email: `rival-${n}@example.com` })],
    [
      'email',
      (n: number) => ({ username: `rival-${n}`, email: n % 2 ? 'Rival@Example.com' : 'rival@example.com' }),
    ],
  ])('with one %s at once succeeds for one of six', async (_, names) => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => as('administrator', 'POST', '/users', { ...fresh(), ...names(n) })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });
});

let indexed: Promise<void> | undefined;
/** Search rows follow the users with a delay. */
function searchable(): Promise<void> {
  indexed ??= vi.waitFor(async () => {
    expect((await as('administrator', 'GET', '/users?search=maintainer')).body).toHaveLength(1);
  }, 60_000);
  return indexed;
}
