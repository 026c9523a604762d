import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { absent, BAD, MEMBERS, NO_RECORD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { ask, expiredMember } from '../../harness/world.ts';

const { service, world, as } = ownWorld();

const READ_SCOPES = { read_api: 200, read_user: 403, read_repository: 403, write_repository: 403 } as const;
const WRITE_SCOPES = { read_api: 403, read_user: 403, read_repository: 403, write_repository: 403 } as const;
const INSIDERS = {
  anonymous: 401,
  stranger: 404,
  external: 404,
  former: 404,
  administrator: 200,
  ...MEMBERS,
  ...BAD,
} as const;
const hides = ['secret of', 'thing', 'owner/', 'developer'];

describe('reading project members', () =>
  scenarios(
    () => world,
    [
      {
        request: 'GET /projects/{public}/members',
        as: {
          anonymous: 401,
          stranger: 200,
          external: 200,
          former: 200,
          administrator: 200,
          ...MEMBERS,
          ...BAD,
          ...READ_SCOPES,
        },
        hides,
        look: ({ status, body, headers }) => {
          if (status !== 200) return;
          expectSchema('members', body);
          const names = ['guest', 'reporter', 'developer', 'maintainer', 'owner', 'blocked'];
          expect(body.map((m: { username: string }) => m.username).sort()).toEqual(names.sort());
          // A membership that is over is no member, and no number either.
          expect(headers.get('x-total')).toBe('6');
          expect(JSON.stringify(body)).not.toContain('@');
        },
      },
      {
        request: 'GET /projects/{internal}/members',
        as: {
          anonymous: 401,
          stranger: 200,
          external: 404,
          former: 200,
          administrator: 200,
          ...MEMBERS,
          ...BAD,
        },
        hides,
      },
      {
        request: 'GET /projects/{private}/members',
        as: INSIDERS,
        hides,
      },
      {
        request: 'GET /projects/owner%2Fprivate-thing/members?query=dev',
        as: { stranger: 404, guest: 200 },
        holds: [{ username: 'developer', access_level: 30, expires_at: null }],
        hides,
      },
      {
        request: 'GET /projects/{private}/members/{developer}',
        as: { ...INSIDERS, ...READ_SCOPES },
        holds: { username: 'developer', access_level: 30, expires_at: null },
        hides,
      },
      { request: 'GET /projects/{private}/members/{stranger}', as: { stranger: 404, guest: NO_RECORD } },
      {
        request: 'GET /projects/{private}/members/{former}',
        as: { guest: NO_RECORD, owner: NO_RECORD },
      },
      { request: 'GET /projects/{private}/members/999999', as: { guest: NO_RECORD } },
      {
        request: 'GET /projects/{public}/members/abc',
        as: {
          anonymous: 401,
          guest: { status: 400, holds: { error: 'user_id is invalid' } },
        },
      },
    ],
  ));

describe('adding project members', () => {
  const fresh = ((n) => async () => {
    const { id } = await service.user(`added-${++n}`);
    return { user_id: id, access_level: 20 };
  })(0);
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{private}/members',
        json: fresh,
        as: {
          anonymous: 401,
          stranger: 404,
          external: 404,
          former: 404,
          guest: 403,
          reporter: 403,
          developer: 403,
          maintainer: 201,
          owner: 201,
          administrator: 201,
          ...BAD,
          ...WRITE_SCOPES,
        },
        holds: { access_level: 20, expires_at: null, state: 'active' },
        hides: ['secret of', 'thing'],
      },
      {
        request: 'POST /projects/{public}/members',
        json: (w, who) => ({ user_id: w.ids[who === 'anonymous' ? 'stranger' : who]!, access_level: 40 }),
        as: { anonymous: 401, stranger: 403, external: 403, former: 403, guest: 403, developer: 403 },
      },
      {
        request: 'POST /projects/{private}/members',
        json: (w) => ({ user_id: w.ids['developer'], access_level: 30 }),
        as: {
          stranger: 404,
          guest: 403,
          maintainer: { status: 409, holds: { message: 'Member already exists' } },
        },
      },
      {
        request: 'POST /projects/{private}/members',
        json: { user_id: 999999, access_level: 30 },
        as: { guest: 403, maintainer: absent('User') },
      },
    ],
  );

  test.each([
    [{}, { error: 'user_id is missing, access_level is missing' }],
    [{ user_id: 1 }, { error: 'access_level is missing' }],
    [{ user_id: 1, access_level: 'x' }, { error: 'access_level is invalid' }],
    [{ user_id: { id: 1 }, access_level: 10 }, { error: 'user_id is invalid' }],
    [{ user_id: 1, access_level: 50 }, { message: { access_level: ['is not included in the list'] } }],
    [{ user_id: 1, access_level: 5 }, { message: { access_level: ['is not included in the list'] } }],
    [{ user_id: 1, access_level: 15 }, { message: { access_level: ['is not included in the list'] } }],
    [
      { user_id: 1, access_level: 10, expires_at: '2020-01-01' },
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
    [{ user_id: 1, access_level: 10, expires_at: '2020-13-01' }, { error: 'expires_at is invalid' }],
  ])('refuses %j', async (json, body) => {
    const answer = await as('owner', 'POST', `/projects/${world.ids['private']}/members`, json);
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test('accepts several users, each on its own, and gives the reasons for those not added', async () => {
    const [a, b] = await Promise.all([service.user('several-a'), service.user('several-b')]);
    const path = `/projects/${world.ids['private']}/members`;
    const good = await as('owner', 'POST', path, { user_id: `${a.id}, ${b.id}`, access_level: 10 });
    expect([good.status, good.body]).toEqual([201, { status: 'success' }]);
    const mixed = await as('owner', 'POST', path, { user_id: `${a.id},${a.id},999999,x`, access_level: 10 });
    expect([mixed.status, mixed.body]).toEqual([
      201,
      {
        status: 'error',
        message: {
          'several-a': 'Member already exists',
          '999999': '404 User Not Found',
          '0': '404 User Not Found',
        },
      },
    ]);
    const refused = await as('developer', 'POST', path, { user_id: `${a.id},${b.id}`, access_level: 10 });
    expect(refused.status).toBe(403);
  });

  test('refuses more than a hundred users at once', async () => {
    const user_id = Array.from({ length: 101 }, (_, n) => 10_000 + n).join(',');
    const answer = await as('owner', 'POST', `/projects/${world.ids['private']}/members`, {
      user_id,
      access_level: 10,
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      { status: 'error', message: 'Too many users specified (limit is 100)' },
    ]);
  });

  test('succeeds for one of five simultaneous additions of a user', async () => {
    const { id } = await service.user('contested');
    const answers = await Promise.all(
      [10, 20, 30, 40, 10].map((access_level) =>
        as('owner', 'POST', `/projects/${world.ids['private']}/members`, { user_id: id, access_level }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  test('is possible for a user whose membership has expired', async () => {
    const { id, token } = await service.user('returning');
    await expiredMember(world.store, world.ids['private']!, id, 40);
    const path = `/projects/${world.ids['private']}`;
    expect((await service.call('GET', path, { token })).status).toBe(404);
    const expires_at = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const back = await as('owner', 'POST', `${path}/members`, { user_id: id, access_level: 10, expires_at });
    expect([back.status, back.body]).toMatchObject([201, { access_level: 10, expires_at }]);
    const seen = await service.call('GET', path, { token });
    expect(seen.body.permissions.project_access.access_level).toBe(10);
  });
});

describe('a membership that ends today', () => {
  const today = () => new Date().toISOString().slice(0, 10);
  const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  test.each(['members', 'invitations'])(
    'is accepted by %s, one that ended yesterday is not',
    async (kind) => {
      const { id } = await service.user(`today-${kind}`);
      const who = kind === 'members' ? { user_id: id } : { email: `today-${kind}@elsewhere.example` };
      const add = (expires_at: string) =>
        as('owner', 'POST', `/projects/${world.ids['private']}/${kind}`, {
          ...who,
          access_level: 10,
          expires_at,
        });
      expect((await add(yesterday())).body.message).toEqual({ expires_at: ['cannot be a date in the past'] });
      expect((await add(today())).status).toBe(201);
    },
  );
});

describe('changing project members', () => {
  scenarios(
    () => world,
    [
      {
        request: 'PUT /projects/{internal}/members/{reporter}',
        json: { access_level: 20 },
        as: {
          anonymous: 401,
          stranger: 403,
          external: 404,
          former: 403,
          guest: 403,
          reporter: 403,
          developer: 403,
          maintainer: 200,
          owner: 200,
          administrator: 200,
          ...BAD,
          ...WRITE_SCOPES,
        },
        holds: { username: 'reporter', access_level: 20 },
      },
      {
        request: 'PUT /projects/{private}/members/{stranger}',
        json: { access_level: 20 },
        as: {
          stranger: 404,
          guest: 403,
          maintainer: NO_RECORD,
          owner: NO_RECORD,
          administrator: NO_RECORD,
        },
      },
      {
        request: 'PUT /projects/{private}/members/{reporter}',
        json: {},
        as: { owner: { status: 400, holds: { error: 'access_level is missing' } } },
      },
      {
        request: 'PUT /projects/{private}/members/{reporter}',
        json: { access_level: 50 },
        as: {
          owner: { status: 400, holds: { message: { access_level: ['is not included in the list'] } } },
          guest: 403,
        },
      },
    ],
  );

  test('is 404 for an expired membership', async () => {
    for (const who of ['maintainer', 'owner', 'administrator'] as const) {
      const path = `/projects/${world.ids['private']}/members/${world.ids['former']}`;
      const answer = await as(who, 'PUT', path, { access_level: 40, expires_at: '' });
      expect([who, answer.status, answer.body]).toEqual([who, 404, { message: '404 Not found' }]);
    }
    expect((await as('former', 'GET', `/projects/${world.ids['private']}`)).status).toBe(404);
  });

  test('sets, keeps and clears expires_at', async () => {
    const path = `/projects/${world.ids['public']}/members/${world.ids['guest']}`;
    const expires_at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect((await as('owner', 'PUT', path, { access_level: 10, expires_at })).body.expires_at).toBe(
      expires_at,
    );
    expect((await as('owner', 'PUT', path, { access_level: 10 })).body.expires_at).toBe(expires_at);
    expect((await as('owner', 'PUT', path, { access_level: 10, expires_at: '' })).body.expires_at).toBeNull();
    expect((await as('owner', 'GET', path)).body.expires_at).toBeNull();
  });

  test('is refused for the owner of the personal namespace', async () => {
    const path = `/projects/${world.ids['private']}/members/${world.ids['owner']}`;
    for (const who of ['maintainer', 'owner', 'administrator'] as const) {
      expect([who, (await as(who, 'PUT', path, { access_level: 10 })).status]).toEqual([who, 403]);
      expect([who, (await as(who, 'DELETE', path)).status]).toEqual([who, 403]);
    }
    expect((await as('owner', 'GET', path)).body.access_level).toBe(40);
  });

  test('takes effect on the next request', async () => {
    const { id, token } = await service.user('rising');
    const path = `/projects/${world.ids['private']}/members`;
    await as('owner', 'POST', path, { user_id: id, access_level: 30 });
    const add = () => service.call('POST', path, { token, json: { user_id: 999999, access_level: 10 } });
    expect((await add()).status).toBe(403);
    await as('owner', 'PUT', `${path}/${id}`, { access_level: 40 });
    expect((await add()).status).toBe(404);
    await as('owner', 'DELETE', `${path}/${id}`);
    expect((await add()).body).toEqual({ message: '404 Project Not Found' });
  });
});

describe('removing project members', () => {
  scenarios(
    () => world,
    [
      {
        request: async function DELETE_some_reporter(w) {
          const { id } = await service.user(`leaving-${Math.random().toString(36).slice(2)}`);
          const json = { user_id: id, access_level: 20 };
          await ask(w, 'owner', 'POST', `/projects/${w.ids['private']}/members`, json);
          return `DELETE /projects/{private}/members/${id}`;
        },
        as: {
          anonymous: 401,
          stranger: 404,
          external: 404,
          former: 404,
          guest: 403,
          developer: 403,
          maintainer: 204,
          owner: 204,
          administrator: 204,
          ...BAD,
          ...WRITE_SCOPES,
        },
      },
      {
        request: 'DELETE /projects/{private}/members/{stranger}',
        as: { guest: NO_RECORD, owner: NO_RECORD },
      },
      { request: 'DELETE /projects/{private}/members/{former}', as: { former: 404, owner: NO_RECORD } },
    ],
  );

  test('is permitted to the member, once', async () => {
    const { id, token } = await service.user('quitter');
    const path = `/projects/${world.ids['private']}/members`;
    await as('owner', 'POST', path, { user_id: id, access_level: 10 });
    const gone = await service.call('DELETE', `${path}/${id}`, { token });
    expect([gone.status, gone.body]).toEqual([204, null]);
    expect((await service.call('DELETE', `${path}/${id}`, { token })).status).toBe(404);
  });

  test('respects If-Unmodified-Since', async () => {
    const { id } = await service.user('kept');
    const path = `/projects/${world.ids['private']}/members`;
    await as('owner', 'POST', path, { user_id: id, access_level: 10 });
    const headers = { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' };
    const answer = await service.call('DELETE', `${path}/${id}`, { token: world.tokens.owner!, headers });
    expect([answer.status, answer.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    expect((await as('owner', 'GET', `${path}/${id}`)).status).toBe(200);
  });
});

test('project members can be filtered by user_ids in every notation and by part of name or username', async () => {
  const path = `/projects/${world.ids['public']}/members`;
  const [guest, developer] = [world.ids['guest']!, world.ids['developer']!];
  const ids = async (query: string) => {
    const { status, body, headers } = await as('guest', 'GET', `${path}?${query}`);
    expect(status).toBe(200);
    return [body.map((member: { id: number }) => member.id), headers.get('x-total')];
  };
  const both = [guest, developer].sort((a, b) => a - b);
  expect(await ids(`user_ids[]=${guest}&user_ids[]=${developer}`)).toEqual([both, '2']);
  expect(await ids(`user_ids=${guest},${developer}`)).toEqual([both, '2']);
  expect(await ids(`user_ids[]=${guest}&user_ids[]=${developer}&per_page=1&page=2`)).toEqual([
    [both[1]],
    '2',
  ]);
  expect(await ids('query=EVELO')).toEqual([[developer], '1']);
  expect(await ids('query=nobody')).toEqual([[], '0']);
  expect((await ids('user_ids='))[1]).toBe('6');
  expect((await ids('query='))[1]).toBe('6');
  expect(await ids(`user_ids[]=${world.ids['former']}`)).toEqual([[], '0']);
  const bad = await as('guest', 'GET', `${path}?user_ids[]=x`);
  expect([bad.status, bad.body]).toEqual([400, { error: 'user_ids is invalid' }]);
});

test('an external user added as Guest to an internal project has no more than Guest rights', async () => {
  const path = `/projects/${world.ids['internal']}/members`;
  await as('owner', 'POST', path, { user_id: world.ids['external'], access_level: 10 });
  expect((await as('external', 'GET', `/projects/${world.ids['internal']}`)).status).toBe(200);
  const headers = { Authorization: `Basic ${Buffer.from(`x:${world.tokens.external}`).toString('base64')}` };
  const url = `${service.url}/owner/internal-thing.git/info/refs?service=git-upload-pack`;
  expect((await fetch(url, { headers })).status).toBe(403);
  await as('owner', 'DELETE', `${path}/${world.ids['external']}`);
});

test('a member has the address that they show to everyone', async () => {
  const json = { email: 'shown@example.com', username: 'shown', name: 'Shown', reset_password: true };
  const user = await as('administrator', 'POST', '/users', { ...json, skip_confirmation: true });
  const path = `/projects/${world.ids['public']}/members`;
  const added = await as('owner', 'POST', path, { user_id: user.body.id, access_level: 10 });
  expect(added.body).not.toHaveProperty('email');
  await as('administrator', 'PUT', `/users/${user.body.id}`, { public_email: json.email });
  for (const at of [`${path}/${user.body.id}`, `${path}/all/${user.body.id}`])
    expect((await as('guest', 'GET', at)).body).toMatchObject({ username: 'shown', email: json.email });
  expect((await as('guest', 'GET', `${path}?query=shown`)).body).toMatchObject([{ email: json.email }]);
  await as('administrator', 'DELETE', `/users/${user.body.id}`);
});
