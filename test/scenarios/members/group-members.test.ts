import { Gitlab } from '@gitbeaker/rest';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Deps } from '../../../lib/domain/deps.ts';
import { removeDescendantMemberships } from '../../../lib/domain/members/cascade-removal.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD, NO_RECORD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';

const { service, world, as } = ownWorld();
const LEVELS = { guest: 10, reporter: 20, developer: 30, maintainer: 40 } as const;
/** `gpublic`, `ginternal`, `gprivate` with a member of each role; `gsub` and a project `inside` below the last. */
beforeAll(async () => {
  for (const visibility of ['public', 'internal', 'private']) {
    const made = await as('owner', 'POST', '/groups', {
      name: `G ${visibility}`,
      path: `g${visibility}`,
      visibility,
    });
    world.ids[`g${visibility}`] = made.body.id;
    for (const [name, access_level] of Object.entries(LEVELS)) {
      const json = { user_id: world.ids[name], access_level };
      expect((await as('owner', 'POST', `/groups/g${visibility}/members`, json)).status).toBe(201);
    }
  }
  const sub = { name: 'Sub', path: 'gsub', parent_id: world.ids['gprivate'], visibility: 'private' };
  world.ids['gsub'] = (await as('owner', 'POST', '/groups', sub)).body.id;
  const project = { name: 'inside', namespace_id: world.ids['gsub'] };
  const inside = await as('owner', 'POST', '/projects', project);
  expect(inside.status).toBe(201);
  world.ids['inside'] = inside.body.id;
});

const person = async (name: string) => {
  const made = await service.user(name);
  const call = (method: string, path: string, json?: unknown) =>
    service.call(method, path, { token: made.token, ...(json === undefined ? {} : { json }) });
  return { ...made, call };
};
const MEMBERS = {
  guest: 200,
  reporter: 200,
  developer: 200,
  maintainer: 200,
  owner: 200,
  administrator: 200,
} as const;
const OUT = { stranger: 404, external: 404, former: 404 } as const;
const hides = ['gprivate', 'Sub', 'developer'];

describe('reading group members', () =>
  scenarios(
    () => world,
    [
      {
        request: 'GET /groups/{gpublic}/members',
        as: {
          anonymous: 401,
          stranger: 200,
          external: 200,
          former: 200,
          ...MEMBERS,
          ...BAD,
          read_api: 200,
          read_user: 403,
        },
        look: ({ status, body, headers }) => {
          if (status !== 200) return;
          expectSchema('members', body);
          expect(body.map((m: { access_level: number }) => m.access_level).sort()).toEqual([
            10, 20, 30, 40, 50,
          ]);
          expect(headers.get('x-total')).toBe('5');
        },
      },
      {
        request: 'GET /groups/{ginternal}/members',
        as: { anonymous: 401, stranger: 200, external: 404, ...MEMBERS },
        hides,
      },
      {
        request: 'GET /groups/{gprivate}/members',
        as: { anonymous: 401, ...OUT, ...MEMBERS, ...BAD },
        hides,
      },
      { request: 'GET /groups/{gprivate}/members/all', as: { anonymous: 401, ...OUT, ...MEMBERS }, hides },
      {
        request: 'GET /groups/gprivate%2Fgsub/members',
        as: { ...OUT, guest: 200, administrator: 200 },
        holds: [{ username: 'owner', access_level: 50 }],
        hides,
      },
      {
        request: 'GET /groups/{gsub}/members/all',
        as: { anonymous: 401, ...OUT, ...MEMBERS },
        hides,
        look: ({ status, headers }) => status === 200 && expect(headers.get('x-total')).toBe('5'),
      },
      {
        request: 'GET /projects/{inside}/members/all',
        as: { anonymous: 401, ...OUT, ...MEMBERS },
        hides,
        look: ({ status, headers }) => status === 200 && expect(headers.get('x-total')).toBe('5'),
      },
      {
        request: 'GET /groups/{gprivate}/members/{developer}',
        as: { anonymous: 401, ...OUT, ...MEMBERS },
        holds: { username: 'developer', access_level: 30, expires_at: null },
        hides,
      },
      { request: 'GET /groups/{gsub}/members/{developer}', as: { ...OUT, guest: NO_RECORD } },
      {
        request: 'GET /groups/{gsub}/members/all/{developer}',
        as: { anonymous: 401, ...OUT, ...MEMBERS },
        holds: { username: 'developer', access_level: 30 },
        hides,
      },
      {
        request: 'GET /projects/{inside}/members/all/{owner}',
        as: { ...OUT, guest: 200 },
        holds: { username: 'owner', access_level: 50 },
      },
      { request: 'GET /groups/{gsub}/members/all/{stranger}', as: { ...OUT, guest: NO_RECORD } },
      {
        request: 'GET /groups/{gpublic}/members/x',
        as: { anonymous: 401, guest: { status: 400, holds: { error: 'user_id is invalid' } } },
      },
    ],
  ));

describe('changing group members', () => {
  let n = 0;
  const fresh = async () => (await service.user(`fresh-${++n}`)).id;
  const WRITERS = { anonymous: 401, guest: 403, reporter: 403, developer: 403, maintainer: 403 } as const;
  scenarios(
    () => world,
    [
      {
        request: 'POST /groups/{gprivate}/members',
        json: async () => ({ user_id: await fresh(), access_level: 50 }),
        as: { ...WRITERS, ...OUT, ...BAD, owner: 201, administrator: 201, read_api: 403 },
        holds: { access_level: 50, expires_at: null },
        hides,
      },
      {
        request: 'POST /groups/{gpublic}/members',
        json: (w, who) => ({ user_id: w.ids[who === 'anonymous' ? 'stranger' : who]!, access_level: 50 }),
        as: { ...WRITERS, stranger: 403, external: 403, former: 403 },
      },
      {
        request: 'PUT /groups/{gprivate}/members/{reporter}',
        json: { access_level: 20 },
        as: { ...WRITERS, ...OUT, ...BAD, owner: 200, administrator: 200 },
        holds: { username: 'reporter', access_level: 20 },
        hides,
      },
      {
        request: async function DELETE_somebody() {
          const id = await fresh();
          await as('owner', 'POST', '/groups/gprivate/members', { user_id: id, access_level: 10 });
          return `DELETE /groups/{gprivate}/members/${id}`;
        },
        as: { ...WRITERS, ...OUT, ...BAD, owner: 204, administrator: 204 },
        hides,
      },
      {
        request: 'DELETE /groups/{gsub}/members/{developer}',
        as: { guest: NO_RECORD, owner: NO_RECORD },
      },
    ],
  );

  test.each([
    [{}, { error: 'user_id is missing, access_level is missing' }],
    [{ user_id: 1, access_level: 5 }, { message: { access_level: ['is not included in the list'] } }],
    [{ user_id: 1, access_level: 60 }, { message: { access_level: ['is not included in the list'] } }],
    [
      { user_id: 1, access_level: 10, expires_at: '2020-01-01' },
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
  ])('refuses %j', async (json, body) => {
    const answer = await as('owner', 'POST', '/groups/gprivate/members', json);
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test('refuses a level below the inherited one', async () => {
    const body = {
      message: {
        access_level: [
          'should be greater than or equal to Developer inherited membership from group G private',
        ],
      },
    };
    const low = { user_id: world.ids['developer'], access_level: 20 };
    for (const path of ['/groups/gprivate%2Fgsub/members', `/projects/${world.ids['inside']}/members`]) {
      const refused = await as('owner', 'POST', path, low);
      expect([path, refused.status, refused.body]).toEqual([path, 400, body]);
      const added = await as('owner', 'POST', path, { ...low, access_level: 40 });
      expect([path, added.status]).toEqual([path, 201]);
      const all = await as('guest', 'GET', `${path}/all/${world.ids['developer']}`);
      expect(all.body.access_level).toBe(40);
      const lowered = await as('owner', 'PUT', `${path}/${world.ids['developer']}`, { access_level: 20 });
      // The project stands in the subgroup, where the level is higher by now.
      expect(lowered.status).toBe(400);
      const away = await as('owner', 'DELETE', `${path}/${world.ids['developer']}`);
      expect(away.status).toBe(204);
    }
  });

  test('accepts several users at once', async () => {
    const ids = [await fresh(), await fresh()];
    const json = { user_id: ids.join(','), access_level: 30 };
    const answer = await as('owner', 'POST', '/groups/gprivate/members', json);
    expect([answer.status, answer.body]).toEqual([201, { status: 'success' }]);
  });

  test('takes effect in descendants on the next request, until the expiry day', async () => {
    const late = await person('late');
    const path = `/projects/${world.ids['inside']}`;
    expect((await late.call('GET', path)).status).toBe(404);
    await as('owner', 'POST', '/groups/gprivate/members', { user_id: late.id, access_level: 30 });
    const seen = await late.call('GET', path);
    expect(seen.status).toBe(200);
    await as('owner', 'DELETE', `/groups/gprivate/members/${late.id}`);
    expect((await late.call('GET', path)).status).toBe(404);
  });
});

describe('leaving a group', () => {
  test('is refused to the last owner, unless an ancestor group has owners', async () => {
    const solo = await person('solo');
    const { body: top } = await solo.call('POST', '/groups', { name: 'Solo', path: 'solo-group' });
    const members = `/groups/${top.id}/members`;
    const sub = (await solo.call('POST', '/groups', { name: 'S', path: 's', parent_id: top.id })).body;
    const tries: [string, string, object?][] = [
      ['DELETE', `${members}/${solo.id}`],
      ['PUT', `${members}/${solo.id}`, { access_level: 40 }],
      ['PUT', `${members}/${solo.id}`, { access_level: 50, expires_at: '2099-01-01' }],
    ];
    for (const [method, path, json] of tries) {
      const answer = await solo.call(method, path, json);
      expect([method, answer.status, answer.body]).toEqual([method, 403, { message: '403 Forbidden' }]);
    }
    expect((await as('administrator', 'DELETE', `${members}/${solo.id}`)).status).toBe(403);
    expect((await solo.call('DELETE', `/groups/${sub.id}/members/${solo.id}`)).status).toBe(204);
    // A user whose ownership has expired is no owner who could stay.
    const heir = await person('heir');
    await solo.call('POST', members, { user_id: heir.id, access_level: 50 });
    const source = { kind: 'group', id: top.id } as const;
    await world.store.members.change(source, heir.id, { accessLevel: 50, expiresAt: '2020-01-01' });
    expect((await solo.call('DELETE', `${members}/${solo.id}`)).status).toBe(403);
    await world.store.members.remove(source, heir.id);
    await solo.call('POST', members, { user_id: heir.id, access_level: 50 });
    expect((await solo.call('PUT', `${members}/${solo.id}`, { access_level: 10 })).status).toBe(200);
    expect((await heir.call('DELETE', `${members}/${heir.id}`)).status).toBe(403);
  });

  test('at once in any way leaves one of two owners', async () => {
    const [a, b] = [await person('race-a'), await person('race-b')];
    for (let n = 0; n < 8; n++) {
      const { body: group } = await a.call('POST', '/groups', { name: `R${n}`, path: `race-${n}` });
      const members = `/groups/${group.id}/members`;
      await a.call('POST', members, { user_id: b.id, access_level: 50 });
      const leave = (p: typeof a) => p.call('DELETE', `${members}/${p.id}`);
      const demote = (p: typeof a, of: typeof a) =>
        p.call('PUT', `${members}/${of.id}`, { access_level: 10 });
      const answers = await Promise.all(
        [
          () => [leave(a), leave(b)],
          () => [demote(a, b), demote(b, a)],
          () => [leave(a), demote(a, b)],
          () => [leave(b), leave(a)],
        ][n % 4]!(),
      );
      expect(answers.filter(({ status }) => status < 300).length).toBeLessThanOrEqual(1);
      const left = await as('administrator', 'GET', members);
      expect(left.body.filter((m: { access_level: number }) => m.access_level === 50).length).toBeGreaterThan(
        0,
      );
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    }
  });

  test('also removes memberships of descendants, unless skip_subresources is set or they are given again', async () => {
    const wanderer = await person('wanderer');
    const inside = [`/groups/${world.ids['gsub']}`, `/projects/${world.ids['inside']}`];
    const join = async (path: string) => {
      const json = { user_id: wanderer.id, access_level: 30 };
      expect((await as('owner', 'POST', `${path}/members`, json)).status).toBe(201);
    };
    const statuses = () => Promise.all(inside.map(async (path) => (await wanderer.call('GET', path)).status));
    for (const path of ['/groups/gprivate', ...inside]) await join(path);
    await as('owner', 'DELETE', `/groups/gprivate/members/${wanderer.id}?skip_subresources=true`);
    expect(await statuses()).toEqual([200, 200]);
    await join('/groups/gprivate');
    await as('owner', 'DELETE', `/groups/gprivate/members/${wanderer.id}`);
    const until = new Date().toISOString();
    expect(await statuses()).toEqual([404, 404]);
    await join(inside[1]!);
    // The message comes again, late.
    const job = { groupId: world.ids['gprivate']!, userId: wanderer.id, until };
    await removeDescendantMemberships({ store: world.store } as Deps, job);
    // Of a group it sees no more than that it is there.
    expect(await statuses()).toEqual([200, 200]);
    expect((await wanderer.call('GET', `${inside[0]}/members`)).status).toBe(403);
    // What is elsewhere stays.
    await as('owner', 'POST', '/groups/gpublic/members', { user_id: wanderer.id, access_level: 30 });
    expect((await wanderer.call('GET', `/groups/gpublic/members/${wanderer.id}`)).status).toBe(200);
  });
});

test('@gitbeaker/rest manages group members', async () => {
  const api = new Gitlab({ host: service.url, token: world.tokens.owner! });
  const { id } = await service.user('by-client');
  const group = world.ids['gprivate']!;
  const added = await api.GroupMembers.add(group, 30, { userId: id, expiresAt: '2099-01-01' });
  expect(added).toMatchObject({ id, access_level: 30, expires_at: '2099-01-01' });
  expect(await api.GroupMembers.edit(group, id, 40)).toMatchObject({ access_level: 40 });
  expect(await api.GroupMembers.show(group, id)).toMatchObject({ username: 'by-client' });
  const all = await api.GroupMembers.all(world.ids['gsub']!, { includeInherited: true });
  expect(all.map((member) => member.id)).toContain(id);
  await api.GroupMembers.remove(group, id);
  await expect(api.GroupMembers.show(group, id)).rejects.toMatchObject({
    cause: { description: '404 Not found' },
  });
});
