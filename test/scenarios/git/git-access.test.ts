import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Answer, request } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';
import { SECRET, seedCode } from '../repository/code-audience.ts';

const { service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});

const basic = (token: string, user = 'anybody') => ({
  Authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
});
function advertise(who: Who, service_: string, path: string): Promise<Answer> {
  const token = world.tokens[who];
  return request(`${service.url}/${path}/info/refs?service=${service_}`, 'GET', {
    headers: token === undefined ? {} : basic(token),
  });
}

const BAD = {
  blocked: 403,
  expired: 401,
  revoked: 401,
  unknown: 401,
  read_user: 403,
  read_api: 403,
} as const;
const READ = {
  public: { anonymous: 200, stranger: 200, external: 200, former: 200, guest: 200 },
  internal: { anonymous: 401, stranger: 200, external: 404, former: 200, guest: 200 },
  private: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403 },
} as const;
const MEMBERS_READ = {
  reporter: 200,
  developer: 200,
  maintainer: 200,
  owner: 200,
  administrator: 200,
  read_repository: 200,
  write_repository: 200,
  ...BAD,
};
const WRITE = {
  public: { anonymous: 401, stranger: 403, external: 403, former: 403, guest: 403 },
  internal: { anonymous: 401, stranger: 403, external: 404, former: 403, guest: 403 },
  private: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403 },
} as const;
const MEMBERS_WRITE = {
  reporter: 403,
  developer: 200,
  maintainer: 200,
  owner: 200,
  administrator: 200,
  read_repository: 403,
  write_repository: 200,
  ...BAD,
};

for (const visibility of ['public', 'internal', 'private'] as const) {
  for (const [name, table] of [
    ['git-upload-pack', { ...READ[visibility], ...MEMBERS_READ }],
    ['git-receive-pack', { ...WRITE[visibility], ...MEMBERS_WRITE }],
  ] as const) {
    describe(`${name} of a ${visibility} project`, () => {
      test.each(Object.entries(table))('as %s is answered with %i', async (who, status) => {
        for (const path of [`owner/${visibility}-thing.git`, `Owner/${visibility}-Thing`]) {
          const answer = await advertise(who as Who, name, path);
          expect([path, answer.status]).toEqual([path, status]);
          expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="Lemnos"' : null);
          if (status !== 200) expect(answer.body).not.toMatch(new RegExp(`${SECRET}|thing|refs`, 'i'));
          else expect(answer.headers.get('content-type')).toBe(`application/x-${name}-advertisement`);
        }
      });
    });
  }
}

test('absent repositories look like hidden ones over Git', async () => {
  for (const who of ['anonymous', 'stranger'] as const) {
    for (const name of ['git-upload-pack', 'git-receive-pack']) {
      const hidden = await advertise(who, name, 'owner/private-thing.git');
      const absent = await advertise(who, name, 'nobody/nothing.git');
      expect([absent.status, absent.body]).toEqual([hidden.status, hidden.body]);
    }
  }
});

test('an archived project can be fetched and cannot be pushed to, by anyone', async () => {
  expect((await advertise('anonymous', 'git-upload-pack', 'owner/archived-thing')).status).toBe(200);
  for (const who of ['developer', 'owner', 'administrator'] as const) {
    const answer = await advertise(who, 'git-receive-pack', 'owner/archived-thing');
    expect([answer.status, answer.body]).toEqual([403, '403 Forbidden - the project is archived\n']);
  }
});

test('tokens are accepted over Git as a password, as a bearer and in the API’s header', async () => {
  const token = world.tokens.reporter!;
  const url = `${service.url}/owner/private-thing.git/info/refs?service=git-upload-pack`;
  for (const headers of [
    basic(token),
    basic(token, 'reporter'),
    basic(token, ''),
    { Authorization: `Bearer ${token}` },
    { 'PRIVATE-TOKEN': token },
  ]) {
    expect((await request(url, 'GET', { headers: headers as Record<string, string> })).status).toBe(200);
  }
  for (const headers of [
    basic('reporter', token),
    { Authorization: `Basic ${token}` },
    { Authorization: 'Basic' },
    { Authorization: 'Basic !!!' },
  ]) {
    expect((await request(url, 'GET', { headers: headers as Record<string, string> })).status).toBe(401);
  }
});

test('the Git services ask for the same permission as the ref advertisement', async () => {
  const post = (who: Who, name: string, path: string) => {
    const token = world.tokens[who];
    return request(`${service.url}/${path}/${name}`, 'POST', {
      headers: {
        'Content-Type': `application/x-${name}-request`,
        ...(token === undefined ? {} : basic(token)),
      },
      body: '0000',
    });
  };
  for (const [who, name, path, status] of [
    ['anonymous', 'git-upload-pack', 'owner/private-thing.git', 401],
    ['stranger', 'git-upload-pack', 'owner/private-thing.git', 404],
    ['guest', 'git-upload-pack', 'owner/private-thing.git', 403],
    ['anonymous', 'git-receive-pack', 'owner/public-thing.git', 401],
    ['reporter', 'git-receive-pack', 'owner/public-thing.git', 403],
    ['read_repository', 'git-receive-pack', 'owner/public-thing.git', 403],
    ['developer', 'git-receive-pack', 'owner/archived-thing.git', 403],
  ] as const) {
    const answer = await post(who, name, path);
    expect([who, name, path, answer.status]).toEqual([who, name, path, status]);
  }
});

test('Git paths that name no repository are 404', async () => {
  for (const [path, status] of [
    ['owner/info/refs?service=git-upload-pack', 404],
    ['owner%2Fpublic-thing.git/info/refs?service=git-upload-pack', 404],
    ['owner/public-thing.git', 404],
    ['owner/public-thing.git/config', 404],
    ['owner/public-thing.git/info/refs', 403],
    ['owner/public-thing.git/info/refs?service=git-upload-archive', 403],
    ['owner/public-thing.git/HEAD', 403],
    ['owner/public-thing.git/objects/info/packs', 403],
    ['owner//public-thing.git/info/refs?service=git-upload-pack', 404],
    ['owner/..%2fowner/public-thing.git/info/refs?service=git-upload-pack', 404],
    ['owner/public-thing%00.git/info/refs?service=git-upload-pack', 401],
    ['owner/%ff.git/info/refs?service=git-upload-pack', 404],
    [`${'a/'.repeat(2000)}b.git/info/refs?service=git-upload-pack`, 401],
    [`owner/${'a'.repeat(3000)}.git/info/refs?service=git-upload-pack`, 401],
    ['owner/public-thing.git/../private-thing.git/info/refs?service=git-upload-pack', 401],
    ['1/2/git-upload-pack', 401],
  ] as const) {
    const answer = await request(`${service.url}/${path}`, 'GET');
    expect([path.slice(0, 60), answer.status]).toEqual([path.slice(0, 60), status]);
  }
});

test('before the gateway forwards a request of somebody who is signed in, nothing of the project is read', async () => {
  const read: string[] = [];
  const path = '/owner/private-thing.git/info/refs';
  // What workers read would count too.
  await settled();
  service.host.dynamo.onOperation = ({ keys }) => void read.push(...keys);
  await service.host.invoke('git-authorizer', {
    methodArn: 'arn:aws:execute-api:local:000000000000:api/live/GET/any',
    httpMethod: 'GET',
    path,
    headers: basic(world.tokens.reporter!),
    queryStringParameters: { service: 'git-upload-pack' },
  });
  service.host.dynamo.onOperation = undefined;
  const kinds = new Set(read.map((key) => key.split('#')[0]));
  expect(kinds).toContain('TOKEN');
  for (const kind of ['PATH', 'PROJECT', 'GROUP']) expect(kinds).not.toContain(kind);
});
