import { beforeAll, describe, expect, test } from 'vitest';
import { newPgpKey, newSshKey } from '../../harness/keys.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { absent, BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Who, World } from '../../harness/world.ts';
import fixtures from '../../unit/signatures/fixtures.json' with { type: 'json' };

const { service, world, as } = ownWorld();
beforeAll(async () => {
  const made = await Promise.all([
    as('guest', 'POST', '/user/keys', { title: 'Laptop', key: fixtures.ssh.rsa.key }),
    as('guest', 'POST', '/user/gpg_keys', { key: fixtures.pgp.rsa.key }),
  ]);
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  ['key', 'gpg'].forEach((name, at) => {
    world.ids[name] = made[at]!.body.id;
  });
});

const gone = absent('User');

describe('permission on keys', () =>
  scenarios(
    () => world,
    [
      ...(['keys', 'gpg_keys'] as const).flatMap((kind) => {
        const id = kind === 'keys' ? '{key}' : '{gpg}';
        const what = kind === 'keys' ? 'Key' : 'GPG Key';
        const everybody = {
          anonymous: 200,
          stranger: 200,
          external: 200,
          administrator: 200,
          ...BAD,
        } as const;
        return [
          {
            request: `GET /user/${kind}`,
            as: {
              anonymous: 401,
              stranger: 200,
              guest: 200,
              ...BAD,
              read_user: 200,
              read_api: 200,
              read_repository: 403,
            },
            look: ({ status, body }: { status: number; body: unknown[] }, _: World, who: Who) => {
              if (status === 200) expect(body).toHaveLength(who === 'guest' ? 1 : 0);
            },
          },
          {
            request: `GET /user/${kind}/${id}`,
            as: { anonymous: 401, guest: 200, stranger: absent(what), administrator: absent(what) },
          },
          {
            request: `GET /user/${kind}/x`,
            as: { guest: { status: 400, holds: { error: 'key_id is invalid' } } },
          },
          {
            request: `GET /users/{guest}/${kind}`,
            as: { ...everybody, read_user: 200, write_repository: 403 },
          },
          { request: `GET /users/guest/${kind}`, as: { anonymous: 200 } },
          { request: `GET /users/999999/${kind}`, as: { anonymous: gone, administrator: gone } },
          { request: `GET /users/{guest}/${kind}/${id}`, as: everybody },
          {
            request: `GET /users/{owner}/${kind}/${id}`,
            as: { anonymous: absent(what), administrator: absent(what) },
          },
          {
            request: `POST /users/{guest}/${kind}`,
            json: { title: 'x', key: 'no key' },
            as: {
              anonymous: 401,
              guest: 403,
              owner: 403,
              administrator: { status: 400, holds: { message: { key: ['is invalid'] } } },
            },
          },
          {
            request: `POST /users/999999/${kind}`,
            json: { title: 'x', key: 'no key' },
            as: { administrator: gone },
          },
          {
            request: `DELETE /users/{guest}/${kind}/999999`,
            as: { anonymous: 401, guest: 403, administrator: absent(what) },
          },
          {
            request: `DELETE /user/${kind}/999999`,
            as: { anonymous: 401, guest: absent(what), read_api: 403 },
          },
          { request: `DELETE /user/${kind}/${id}`, as: { owner: absent(what) } },
        ];
      }),
      { request: 'GET /keys/{key}', as: { anonymous: 401, guest: 403, administrator: 200, ...BAD } },
      { request: 'GET /keys/999999', as: { administrator: absent('Key') } },
      {
        request: 'GET /keys',
        as: {
          guest: 403,
          administrator: { status: 400, holds: { error: 'fingerprint is missing' } },
        },
      },
      { request: `GET /keys?fingerprint=${fixtures.ssh.rsa.md5}`, as: { anonymous: 401, guest: 403 } },
      {
        request: 'GET /keys?fingerprint=any',
        as: {
          administrator: { status: 400, holds: { message: '400 Bad request - Failed to return the key' } },
        },
      },
      {
        request: `GET /keys?fingerprint=SHA256:${fixtures.ssh.dsa.sha256}`.replace(/\+/g, '%2B'),
        as: { administrator: absent('Key') },
      },
      { request: 'POST /user/gpg_keys/{gpg}/revoke', as: { anonymous: 401, owner: absent('GPG Key') } },
      {
        request: 'POST /users/{guest}/gpg_keys/{gpg}/revoke',
        as: { anonymous: 401, guest: 403, owner: 403 },
      },
    ],
  ));

describe('SSH keys', () => {
  const add = (who: Who, json: unknown) => as(who, 'POST', '/user/keys', json);

  test('are shown with the owner’s name in place of the comment', async () => {
    const { body } = await as('guest', 'GET', `/user/keys/${world.ids['key']}`);
    expect(body).toEqual({
      id: world.ids['key'],
      title: 'Laptop',
      created_at: expect.any(String),
      expires_at: null,
      key: `${fixtures.ssh.rsa.key.split(' ').slice(0, 2).join(' ')} guest (127.0.0.1)`,
      usage_type: 'auth_and_signing',
    });
  });

  test('are found by id and by both fingerprints, in every notation', async () => {
    const { md5, sha256 } = fixtures.ssh.rsa;
    const paths = [
      `/keys/${world.ids['key']}`,
      ...[md5, md5.toUpperCase(), `MD5:${md5}`, `SHA256:${sha256}`, sha256].map(
        (text) => `/keys?fingerprint=${encodeURIComponent(text)}`,
      ),
    ];
    for (const path of paths) {
      const { body } = await as('administrator', 'GET', path);
      expect(body, path).toMatchObject({ id: world.ids['key'], user: { username: 'guest' } });
      expectSchema('user/public', body.user);
    }
  });

  test.each([
    ['no title', { key: 'x' }, { error: 'title is missing' }],
    ['no key', { title: 'x' }, { error: 'key is missing' }],
    ['nothing', {}, { error: 'title is missing, key is missing' }],
    ['no day', { title: 'x', key: 'x', expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [
      'another use',
      { title: 'x', key: 'x', usage_type: 'x' },
      { error: 'usage_type does not have a valid value' },
    ],
    ['no key in it', { title: 'x', key: 'ssh-rsa x' }, { message: { key: ['is invalid'] } }],
    ['a blank title', { title: ' ', key: fixtures.ssh.dsa.key }, { message: { title: ["can't be blank"] } }],
    [
      'a long title',
      { title: 'x'.repeat(256), key: fixtures.ssh.dsa.key },
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    [
      'a day that has passed',
      { title: 'x', key: fixtures.ssh.dsa.key, expires_at: '2020-01-01' },
      { message: { key: ['has expired'] } },
    ],
    [
      'a key that is there',
      { title: 'x', key: fixtures.ssh.rsa.key },
      { message: { fingerprint: ['has already been taken'] } },
    ],
  ])('are refused: %s', async (_, json, body) => {
    expect(await add('owner', json)).toMatchObject({ status: 400, body });
  });

  test('belong to one of five users who add the same key at once', async () => {
    const json = { title: 'Shared', key: newSshKey() };
    const people: Who[] = ['guest', 'reporter', 'developer', 'maintainer', 'owner'];
    const answers = await Promise.all(people.map((who) => add(who, json)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400]);
    const owner = answers.findIndex(({ status }) => status === 201);
    const { body } = await as('administrator', 'GET', `/keys/${answers[owner]!.body.id}`);
    expect(body.user.username).toBe(people[owner]);
  });

  test('can be added by another user once deleted, and are deleted once', async () => {
    const json = { title: 'Old', key: newSshKey(), expires_at: '2099-12-31', usage_type: 'signing' };
    const { body } = await add('stranger', json);
    expect(body).toMatchObject({ expires_at: '2099-12-31T00:00:00.000Z', usage_type: 'signing' });
    const remove = () => as('stranger', 'DELETE', `/user/keys/${body.id}`);
    const answers = await Promise.all([remove(), remove()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect((await add('owner', json)).status).toBe(201);
  });

  test('respect If-Unmodified-Since when deleted', async () => {
    const { body } = await add('stranger', { title: 'New', key: newSshKey() });
    const headers = { 'If-Unmodified-Since': 'Wed, 01 Jan 2020 00:00:00 GMT' };
    const path = `/user/keys/${body.id}`;
    const answer = await service.call('DELETE', path, { token: world.tokens.stranger!, headers });
    expect(answer.status).toBe(412);
  });

  test('are listed in pages', async () => {
    for (let n = 0; n < 3; n++) await add('external', { title: `${n}`, key: newSshKey() });
    const { headers, body } = await as('anonymous', 'GET', '/users/external/keys?per_page=2&page=2');
    expect([headers.get('x-total'), body.map(({ title }: { title: string }) => title)]).toEqual(['3', ['2']]);
  });
});

describe('GPG keys', () => {
  test('are shown as they were added, and can be added once', async () => {
    const { body } = await as('guest', 'GET', `/user/gpg_keys/${world.ids['gpg']}`);
    expect(body).toEqual({
      id: world.ids['gpg'],
      key: fixtures.pgp.rsa.key.trim(),
      created_at: expect.any(String),
    });
    const again = await as('owner', 'POST', '/user/gpg_keys', { key: fixtures.pgp.rsa.key });
    expect(again).toMatchObject({
      status: 400,
      body: { message: { fingerprint: ['has already been taken'] } },
    });
    const none = await as('owner', 'POST', '/user/gpg_keys', {});
    expect(none).toMatchObject({ status: 400, body: { error: 'key is missing' } });
  });

  test('can be added again once deleted or revoked', async () => {
    for (const [who, method, path] of [
      ['owner', 'DELETE', '/user/gpg_keys/'],
      ['owner', 'POST', '/user/gpg_keys/'],
      ['administrator', 'POST', `/users/${world.ids['owner']}/gpg_keys/`],
    ] as const) {
      const { body } = await as('owner', 'POST', '/user/gpg_keys', { key: fixtures.pgp.subkey.key });
      const end = method === 'POST' ? '/revoke' : '';
      const answer = await as(who, method, `${path}${body.id}${end}`);
      expect(answer.status).toBe(method === 'POST' ? 202 : 204);
      expect((await as('owner', 'GET', `/user/gpg_keys/${body.id}`)).status).toBe(404);
    }
  });
});

test('a deleted user’s keys and email addresses can be added by another', async () => {
  const { id, token } = await service.user('leaver');
  const had = { ssh: newSshKey(), gpg: newPgpKey('leaver@home.example'), email: 'leaver@home.example' };
  await service.call('POST', '/user/keys', { token, json: { title: 'x', key: had.ssh } });
  await service.call('POST', '/user/gpg_keys', { token, json: { key: had.gpg } });
  await service.call('POST', '/user/emails', { token, json: { email: had.email } });
  const user = (await world.store.users.get(id))!;
  await world.store.users.remove(user);
  const added = (path: string, json: object) =>
    expect.poll(async () => (await as('owner', 'POST', path, json)).status).toBe(201);
  await added('/user/emails', { email: had.email });
  await added('/user/keys', { title: 'x', key: had.ssh });
  await added('/user/gpg_keys', { key: had.gpg });
});
