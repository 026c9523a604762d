import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { service, world } = ownWorld();
let withoutScope: string;
beforeAll(async () => {
  const json = { name: 'no sudo', scopes: ['api'] };
  const path = `/users/${world.ids['administrator']}/personal_access_tokens`;
  withoutScope = (await service.call('POST', path, { token: service.rootToken, json })).body.token;
});

const sudo = (who: string, method: string, path: string, token: string | undefined = service.rootToken) =>
  service.call(method, path, { ...(token === undefined ? {} : { token }), headers: { Sudo: who } });

test('an administrator can act as a user by header or parameter, by id or username', async () => {
  const id = world.ids['guest']!;
  for (const who of [String(id), 'guest', 'GUEST']) {
    expect((await sudo(who, 'GET', '/user')).body).toMatchObject({ username: 'guest' });
    const answer = await service.call('GET', `/user?sudo=${who}`, { token: service.rootToken });
    expect(answer.body).toMatchObject({ username: 'guest' });
    expect(answer.body).not.toHaveProperty('is_admin');
  }
});

test('a sudo request does not have the administrator’s own rights', async () => {
  const cases: [string, string, string, number][] = [
    ['stranger', 'GET', `/projects/${world.ids['private']}`, 404],
    ['former', 'GET', `/projects/${world.ids['private']}`, 404],
    ['guest', 'GET', `/projects/${world.ids['private']}`, 200],
    ['guest', 'DELETE', `/projects/${world.ids['private']}`, 403],
    ['maintainer', 'POST', '/users', 403],
    ['stranger', 'GET', `/personal_access_tokens?user_id=${world.ids['owner']}`, 401],
  ];
  for (const [who, method, path, status] of cases) {
    expect([who, path, (await sudo(who, method, path)).status]).toEqual([who, path, status]);
  }
  const list = await sudo('stranger', 'GET', '/projects');
  expect([list.headers.get('x-total'), list.body.length]).toEqual(['2', 2]);
  const level = (await sudo('guest', 'GET', `/projects/${world.ids['private']}`)).body.permissions;
  expect(level.project_access.access_level).toBe(10);
});

test('what a sudo request creates belongs to the user', async () => {
  const made = await service.call('POST', '/projects', {
    token: service.rootToken,
    headers: { Sudo: 'stranger' },
    json: { name: 'on behalf' },
  });
  expect(made.body).toMatchObject({
    path_with_namespace: 'stranger/on-behalf',
    creator_id: world.ids['stranger'],
  });
});

const refused: readonly (readonly [string, () => string | undefined, number, object])[] = [
  ['a user', () => world.tokens.owner, 403, { message: '403 Forbidden - Must be admin to use sudo' }],
  [
    'an administrator without the scope',
    () => withoutScope,
    403,
    { error: 'insufficient_scope', scope: 'sudo' },
  ],
  ['nobody', () => undefined, 401, { message: '401 Unauthorized' }],
  ['an expired token', () => world.tokens.expired, 401, { error: 'invalid_token' }],
];
test.each(refused)('sudo is refused to %s', async (_, token, status, body) => {
  for (const path of ['/user', '/projects', `/projects/${world.ids['public']}`]) {
    const answer = await service.call('GET', path, {
      ...(token() === undefined ? {} : { token: token()! }),
      headers: { Sudo: 'guest' },
    });
    expect([path, answer.status]).toEqual([path, status]);
    expect(answer.body).toMatchObject(body);
  }
});

test.each(['nobody-at-all', '999999', '9223372036854775808', `${'x'.repeat(5000)}`])(
  'sudo as the unknown user %.20s is 404',
  async (who) => {
    const answer = await sudo(who, 'GET', '/projects');
    expect([answer.status, answer.body]).toEqual([
      404,
      { message: `404 User with ID or username '${who.slice(0, 255)}' Not Found` },
    ]);
  },
);
