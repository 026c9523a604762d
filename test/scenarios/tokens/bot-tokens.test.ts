/** Access tokens of projects and groups, and the bots they act as. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fixtures } from '../../crash/faults/fixtures.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD, NARROW } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld({ background: false });
let fixtures: Fixtures;
beforeAll(async () => {
  fixtures = new Fixtures(service);
  const group = await as('owner', 'POST', '/groups', { name: 'Team', path: 'team', visibility: 'public' });
  world.ids['team'] = group.body.id;
  for (const [name, access_level] of [
    ['maintainer', 40],
    ['developer', 30],
  ] as const) {
    const json = { user_id: world.ids[name], access_level };
    await as('owner', 'POST', `/groups/${group.body.id}/members`, json);
  }
});
afterAll(async () => {
  await fixtures.end();
});

const FIELDS = [
  'access_level',
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
const DENIED = (kind: string) => ({
  status: 400,
  holds: { message: `400 Bad request - User does not have permission to create ${kind} access token` },
});

describe('permission on project and group access tokens', () => {
  const body = { name: 'robot', scopes: ['api'] };
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{private}/access_tokens',
        json: body,
        as: {
          anonymous: 401,
          stranger: 404,
          former: 404,
          guest: DENIED('project'),
          developer: DENIED('project'),
          maintainer: 201,
          owner: 201,
          administrator: 201,
          ...BAD,
          ...NARROW,
          read_api: 403,
        },
        holds: { name: 'robot', scopes: ['api'], access_level: 40, active: true, revoked: false },
        look: ({ status, body }) => {
          if (status !== 201) return;
          expect(Object.keys(body).sort()).toEqual([...FIELDS, 'token'].sort());
        },
      },
      {
        request: 'POST /projects/{public}/access_tokens',
        json: body,
        as: { anonymous: 401, stranger: DENIED('project'), developer: DENIED('project'), maintainer: 201 },
      },
      {
        request: 'POST /groups/{team}/access_tokens',
        json: body,
        as: {
          anonymous: 401,
          stranger: DENIED('group'),
          developer: DENIED('group'),
          maintainer: DENIED('group'),
          owner: 201,
          administrator: 201,
        },
      },
      {
        request: 'GET /projects/{private}/access_tokens',
        as: {
          anonymous: 401,
          stranger: 404,
          guest: 401,
          developer: 401,
          maintainer: 200,
          owner: 200,
          administrator: 200,
          read_api: 200,
          ...BAD,
          ...NARROW,
        },
        look: ({ status, body }) => {
          if (status !== 200) return;
          expectSchema('resource_access_tokens', body);
          for (const one of body) expect(Object.keys(one).sort()).toEqual(FIELDS);
        },
      },
      {
        request: 'GET /groups/{team}/access_tokens',
        as: { anonymous: 401, stranger: 401, maintainer: 401, owner: 200, administrator: 200 },
      },
      {
        request: 'DELETE /projects/{private}/access_tokens/999999',
        as: {
          stranger: 404,
          developer: 401,
          maintainer: {
            status: 404,
            holds: { message: '404 Could not find project access token with token_id: 999999 Not Found' },
          },
        },
      },
    ],
  );
});

test('an access token may end today', async () => {
  const expires_at = new Date().toISOString().slice(0, 10);
  const json = { name: 'today', scopes: ['api'], expires_at };
  const answer = await as('owner', 'POST', `/projects/${world.ids['public']}/access_tokens`, json);
  expect([answer.status, answer.body]).toMatchObject([201, { expires_at, active: false }]);
});

test.each([
  [{}, 'name is missing, scopes is missing, scopes is empty', 'error'],
  [{ name: 'a', scopes: ['sudo'] }, 'scopes does not have a valid value', 'error'],
  [{ name: 'a', scopes: ['read_user'] }, 'scopes does not have a valid value', 'error'],
  [{ name: 'a', scopes: ['api'], access_level: 50 }, 'access_level does not have a valid value', 'error'],
  [{ name: 'a', scopes: ['api'], access_level: 15 }, 'access_level does not have a valid value', 'error'],
  [{ name: 'a', scopes: ['api'], expires_at: 'soon' }, 'expires_at is invalid', 'error'],
  [{ name: ' ', scopes: ['api'] }, "400 Bad request - Name can't be blank", 'message'],
  [
    { name: 'a', scopes: ['api'], expires_at: '2020-01-01' },
    '400 Bad request - Expires at cannot be a date in the past',
    'message',
  ],
])('an access token with %j is refused', async (json, text, key) => {
  const answer = await as('owner', 'POST', `/projects/${world.ids['public']}/access_tokens`, json);
  expect([answer.status, answer.body]).toEqual([400, { [key]: text }]);
});

test('the bot of an Owner token does not count as the last owner', async () => {
  const json = { name: 'High', path: 'high' };
  const group = await as('owner', 'POST', '/groups', json);
  const path = `/groups/${group.body.id}`;
  await botOf('owner', path, { access_level: 50 });
  const leaving = await as('owner', 'DELETE', `${path}/members/${world.ids['owner']}`);
  expect([leaving.status, leaving.body]).toEqual([403, { message: '403 Forbidden' }]);
});

test('a bot cannot create access tokens', async () => {
  const path = `/projects/${world.ids['internal']}`;
  const { token } = await botOf('owner', path, {});
  const json = { name: 'again', scopes: ['api'] };
  const more = await service.call('POST', `${path}/access_tokens`, { token, json });
  expect([more.status, more.body]).toEqual([DENIED('project').status, DENIED('project').holds]);
});

describe('the bot of an access token', () => {
  test('is a member of its project only, with the scopes and level of its token', async () => {
    const here = `/projects/${world.ids['private']}`;
    const bot = await botOf('maintainer', here, {
      access_level: 20,
      scopes: ['read_api'],
      expires_at: '2099-01-01',
    });
    const self = await service.call('GET', `/projects/${world.ids['private']}/members/${bot.user_id}`, {
      token: world.tokens.owner!,
    });
    expect(self.body).toMatchObject({ access_level: 20, expires_at: '2099-01-01' });
    const user = (await world.store.users.get(bot.user_id))!;
    expect(user).toMatchObject({ type: 'project_bot', name: 'bot', projectsLimit: 0, canCreateGroup: false });
    expect(user.username).toMatch(new RegExp(`^project_${world.ids['private']}_bot\\d*$`));
    const by = (method: string, path: string, json?: unknown) =>
      service.call(method, path, { token: bot.token, ...(json === undefined ? {} : { json }) });
    expect((await by('GET', here)).body.id).toBe(world.ids['private']);
    expect((await by('POST', '/projects', { name: 'mine' })).status).toBe(403);
    const other = await as('stranger', 'POST', '/projects', { name: 'elsewhere', visibility: 'private' });
    expect((await by('GET', `/projects/${other.body.id}`)).status).toBe(404);
    const added = await as('stranger', 'POST', `/projects/${other.body.id}/members`, {
      user_id: bot.user_id,
      access_level: 30,
    });
    const refusal = { user: ['project bots cannot be added to other groups / projects'] };
    expect([added.status, added.body]).toEqual([400, { message: refusal }]);
    for (const method of ['PUT', 'DELETE']) {
      const answer = await as('owner', method, `${here}/members/${bot.user_id}`, { access_level: 40 });
      expect([method, answer.status]).toEqual([method, 403]);
    }
    const wide = await botOf('maintainer', here, {});
    const leave = await service.call('DELETE', `${here}/members/${wide.user_id}`, { token: wide.token });
    expect(leave.status).toBe(403);
    // Its tokens are its project's to make.
    for (const path of ['personal_access_tokens', 'impersonation_tokens']) {
      const made = await as('administrator', 'POST', `/users/${bot.user_id}/${path}`, {
        name: 'x',
        scopes: ['api'],
      });
      expect([path, made.status]).toEqual([path, 403]);
    }
  });

  test('has a numbered username, unique among simultaneous creations', async () => {
    const path = `/projects/${world.ids['public']}`;
    const bots = await Promise.all([1, 2, 3].map(() => botOf('owner', path, {})));
    const users = await world.store.users.getMany(bots.map((bot) => bot.user_id));
    const names = users.map((user) => user!.username);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(new RegExp(`^project_${world.ids['public']}_bot\\d*$`));
  });

  test('loses its membership at once and its account soon when its token is revoked', async () => {
    const here = `/projects/${world.ids['private']}`;
    const bot = await botOf('owner', here, {});
    const path = `${here}/access_tokens/${bot.id}`;
    const shown = await as('owner', 'GET', path);
    expect(shown.body).toMatchObject({ id: bot.id, user_id: bot.user_id, access_level: 40 });
    expect((await as('owner', 'DELETE', path)).status).toBe(204);
    expect((await service.call('GET', here, { token: bot.token })).body.error).toBe('invalid_token');
    expect((await as('owner', 'GET', path)).status).toBe(404);
    expect((await as('owner', 'DELETE', path)).status).toBe(404);
    expect((await as('owner', 'GET', `${here}/members/${bot.user_id}`)).status).toBe(404);
    const listed = await as('owner', 'GET', `${here}/access_tokens?per_page=100`);
    expect(listed.body.map((one: { id: number }) => one.id)).not.toContain(bot.id);
    await fixtures.settle();
    expect(await world.store.users.get(bot.user_id)).toBeUndefined();
    expect(await world.store.tokens.get(bot.id)).toBeUndefined();
  });

  test('is not found through another project or as a personal token', async () => {
    const bot = await botOf('owner', `/projects/${world.ids['private']}`, {});
    for (const base of [`/projects/${world.ids['public']}`, `/groups/${world.ids['team']}`]) {
      for (const method of ['GET', 'DELETE']) {
        expect((await as('owner', method, `${base}/access_tokens/${bot.id}`)).status).toBe(404);
      }
    }
    expect((await as('owner', 'GET', `/personal_access_tokens/${bot.id}`)).status).toBe(404);
    const self = await service.call('GET', '/personal_access_tokens/self', { token: bot.token });
    expect(self.body).toMatchObject({ id: bot.id, user_id: bot.user_id });
    // Ended by itself, it is gone as if its project had ended it.
    const ended = await service.call('DELETE', '/personal_access_tokens/self', { token: bot.token });
    expect(ended.status).toBe(204);
    expect(
      (await as('owner', 'GET', `/projects/${world.ids['private']}/access_tokens/${bot.id}`)).status,
    ).toBe(404);
  });

  test('of a group has access to everything in the group', async () => {
    const inside = await as('owner', 'POST', '/projects', {
      name: 'inside',
      namespace_id: world.ids['team'],
      visibility: 'private',
    });
    const bot = await botOf('owner', `/groups/${world.ids['team']}`, { access_level: 30 });
    const user = (await world.store.users.get(bot.user_id))!;
    expect(user.username).toBe(`group_${world.ids['team']}_bot${user.username.split('_bot')[1]}`);
    const path = `/projects/${inside.body.id}`;
    expect((await service.call('GET', path, { token: bot.token })).status).toBe(200);
    expect((await as('owner', 'DELETE', `/groups/${world.ids['team']}/access_tokens/${bot.id}`)).status).toBe(
      204,
    );
    expect((await service.call('GET', path, { token: bot.token })).status).toBe(401);
  });

  test('is deleted with its project', async () => {
    const made = await as('owner', 'POST', '/projects', { name: 'short-lived', visibility: 'private' });
    const bot = await botOf('owner', `/projects/${made.body.id}`, {});
    const record = (await world.store.projects.get(made.body.id))!;
    await world.store.projects.remove(record);
    await fixtures.settle();
    expect(await world.store.users.get(bot.user_id)).toBeUndefined();
    expect((await service.call('GET', '/user', { token: bot.token })).status).toBe(401);
  });
});

describe('the rotation of an access token', () => {
  test('is permitted to its bot, and to nobody else by that path', async () => {
    const group = `/groups/${world.ids['team']}`;
    for (const here of [`/projects/${world.ids['private']}`, group]) {
      const bot = await botOf('owner', here, { access_level: 10 });
      const rotate = (path: string, token: string) =>
        service.call('POST', `${path}/access_tokens/self/rotate`, {
          token,
          json: { expires_at: '2099-01-01' },
        });
      const elsewhere = here === group ? `/projects/${world.ids['public']}` : group;
      expect((await rotate(elsewhere, bot.token)).status).toBe(401);
      expect(await rotate(here, world.tokens.owner!)).toMatchObject({
        status: 405,
        body: { message: '405 Method Not Allowed' },
      });
      const turned = await rotate(here, bot.token);
      expect([turned.status, Object.keys(turned.body).sort()]).toEqual([200, [...FIELDS, 'token'].sort()]);
      expect(turned.body).toMatchObject({ user_id: bot.user_id, expires_at: '2099-01-01' });
      expect((await service.call('GET', here, { token: turned.body.token })).status).toBe(200);
      // The old text ends the new one.
      expect((await rotate(here, bot.token)).status).toBe(401);
      expect((await service.call('GET', here, { token: turned.body.token })).body.error).toBe(
        'invalid_token',
      );
    }
  });

  test('gives a new secret to the same bot for the lifetime of the new token', async () => {
    const here = `/projects/${world.ids['private']}`;
    const bot = await botOf('owner', here, { access_level: 30, expires_at: '2098-01-01' });
    const path = `${here}/access_tokens/${bot.id}/rotate`;
    expect((await as('developer', 'POST', path)).status).toBe(401);
    const turned = await as('maintainer', 'POST', path, { expires_at: '2099-01-01' });
    expect([turned.status, Object.keys(turned.body).sort()]).toEqual([200, [...FIELDS, 'token'].sort()]);
    expect(turned.body).toMatchObject({
      name: 'bot',
      user_id: bot.user_id,
      access_level: 30,
      expires_at: '2099-01-01',
      last_used_at: null,
    });
    expect((await service.call('GET', here, { token: bot.token })).status).toBe(401);
    expect((await service.call('GET', here, { token: turned.body.token })).status).toBe(200);
    const member = await as('owner', 'GET', `${here}/members/${bot.user_id}`);
    expect(member.body.expires_at).toBe('2099-01-01');
    const listed: { id: number }[] = (await as('owner', 'GET', `${here}/access_tokens?per_page=100`)).body;
    const ids = listed.map(({ id }) => id);
    expect([ids.includes(bot.id), ids.includes(turned.body.id)]).toEqual([false, true]);
    // Rotating the old token again is refused and revokes the new one: the old secret has leaked.
    const again = await as('maintainer', 'POST', path);
    expect([again.status, again.body]).toEqual([400, { message: '400 Bad request - token already revoked' }]);
    expect((await service.call('GET', here, { token: turned.body.token })).body.error).toBe('invalid_token');
  });
});

async function botOf(
  who: Who,
  base: string,
  more: Record<string, unknown>,
): Promise<{ id: number; user_id: number; token: string }> {
  const answer = await as(who, 'POST', `${base}/access_tokens`, { name: 'bot', scopes: ['api'], ...more });
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  return answer.body;
}
