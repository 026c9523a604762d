import { Gitlab } from '@gitbeaker/rest';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as noon } from '../../../functions/daily.ts';
import { deps } from '../../../functions/deps.ts';
import { buildList } from '../../../lib/domain/billable-members/refresh.ts';
import { BillableLists, type BillableMember } from '../../../lib/store/billable-members/lists.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { absent, NO_RECORD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';

const { service, world, as } = ownWorld();
/**
 * The group `top` has its owner and `group-one`; a group in it `sub-one`, a project in that `project-one`; the group's
 * friends `friend`, `both` are also members of it; `helper` is of a group that is invited to the project.
 */
const people: Record<string, number> = {};
let sub: number;
let inside: number;
beforeAll(async () => {
  const made = async (path: string, json: object) => {
    const answer = await as('owner', 'POST', path, json);
    expect([path, answer.status]).toEqual([path, 201]);
    return answer.body;
  };
  const names = ['group-one', 'sub-one', 'project-one', 'friend', 'both', 'helper', 'gone', 'late'];
  for (const [i, name] of names.entries()) {
    const { id } = await service.user(name, { name: `Person ${'hgfedcba'[i]}` });
    people[name] = id;
  }
  world.ids['top'] = (await made('/groups', { name: 'Top', path: 'top', visibility: 'public' })).id;
  sub = (await made('/groups', { name: 'Sub', path: 'sub', parent_id: world.ids['top'] })).id;
  world.ids['sub'] = sub;
  inside = (await made('/projects', { name: 'inside', namespace_id: sub })).id;
  const friends = (await made('/groups', { name: 'F', path: 'friends' })).id;
  const helpers = (await made('/groups', { name: 'H', path: 'helpers' })).id;
  const join = (place: string, name: string, access_level: number) =>
    made(`${place}/members`, { user_id: people[name], access_level });
  await join(`/groups/${world.ids['top']}`, 'group-one', 30);
  await join(`/groups/${world.ids['top']}`, 'both', 10);
  await join(`/groups/${sub}`, 'sub-one', 20);
  await join(`/groups/${sub}`, 'gone', 20);
  await join(`/projects/${inside}`, 'project-one', 40);
  await join(`/groups/${friends}`, 'friend', 30);
  await join(`/groups/${friends}`, 'both', 30);
  await join(`/groups/${helpers}`, 'helper', 40);
  await made(`/groups/${world.ids['top']}/share`, { group_id: friends, group_access: 20 });
  await made(`/projects/${inside}/share`, { group_id: helpers, group_access: 10 });
  // A bot is nobody who counts.
  await made(`/projects/${inside}/access_tokens`, { name: 'bot', scopes: ['api'] });
  await service.call('POST', `/users/${people['gone']}/block`, { token: service.rootToken });
});

const list = async (query = '') => {
  const answer = await as('owner', 'GET', `/groups/${world.ids['top']}/billable_members${query}`);
  expect(answer.status).toBe(200);
  return answer.body.map(({ username }: { username: string }) => username) as string[];
};
const EVERYBODY = ['helper', 'both', 'friend', 'project-one', 'sub-one', 'group-one'];

describe('permission to list billable members', () => {
  const MANY = { anonymous: 401, stranger: 403, guest: 403, maintainer: 403, read_user: 403 } as const;
  const NOT_OUTERMOST = { status: 400, holds: { message: '400 Bad request' } };
  scenarios(
    () => world,
    [
      { request: 'GET /groups/{top}/billable_members', as: { ...MANY, owner: 200, administrator: 200 } },
      {
        request: 'GET /groups/{sub}/billable_members',
        as: { anonymous: 401, stranger: 404, owner: NOT_OUTERMOST },
      },
      { request: 'GET /groups/{sub}/billable_members/{owner}/memberships', as: { owner: NOT_OUTERMOST } },
      { request: 'DELETE /groups/{sub}/billable_members/{owner}', as: { owner: NOT_OUTERMOST } },
      {
        request: 'GET /groups/{top}/billable_members?sort=size',
        as: { owner: { status: 400, holds: { error: 'sort does not have a valid value' } } },
      },
      { request: 'GET /groups/{top}/billable_members/{owner}/memberships', as: { ...MANY, owner: 200 } },
      {
        request: 'GET /groups/{top}/billable_members/999999/memberships',
        as: { owner: absent('User') },
      },
      { request: 'DELETE /groups/{top}/billable_members/{stranger}', as: MANY },
      {
        request: 'DELETE /groups/{top}/billable_members/{stranger}',
        as: { owner: NO_RECORD },
      },
      // The last owner stays.
      { request: 'DELETE /groups/{top}/billable_members/{owner}', as: { owner: 403, administrator: 403 } },
    ],
  );
});

test('billable members are all users with access in the group’s tree, once each with the kind of access', async () => {
  expect(await list()).toEqual(['owner', ...EVERYBODY].sort((a, b) => order(a) - order(b)));
  const { body, headers } = await as('owner', 'GET', `/groups/${world.ids['top']}/billable_members`);
  expect(headers.get('x-total')).toBe('7');
  const types = Object.fromEntries(
    body.map((one: { username: string; membership_type: string; removable: boolean }) => [
      one.username,
      [one.membership_type, one.removable],
    ]),
  );
  expect(types).toEqual({
    owner: ['group_member', true],
    'group-one': ['group_member', true],
    both: ['group_member', true],
    'sub-one': ['group_member', true],
    'project-one': ['project_member', true],
    friend: ['group_invite', false],
    helper: ['project_invite', false],
  });
  expect(body[0]).toMatchObject({ email: null, state: 'active', created_at: expect.any(String) });
});

/** By name: "owner" is before the persons, who are named against their order. */
const order = (username: string) => ['owner', ...EVERYBODY].indexOf(username);

test('billable members can be sorted, paged and searched', async () => {
  expect(await list('?sort=name_desc')).toEqual((await list('?sort=name_asc')).reverse());
  expect((await list('?sort=access_level_desc')).slice(0, 3)).toEqual(['owner', 'project-one', 'group-one']);
  expect((await list('?sort=access_level_asc')).slice(0, 1)).toEqual(['helper']);
  expect((await list('?sort=oldest_joined'))[0]).toBe('owner');
  expect((await list('?sort=last_joined')).at(-1)).toBe('owner');
  for (const sort of ['oldest_sign_in', 'recent_sign_in', 'last_activity_on_asc', 'last_activity_on_desc'])
    expect((await list(`?sort=${sort}`)).length).toBe(7);
  const pages = [
    await list('?per_page=3'),
    await list('?per_page=3&page=2'),
    await list('?per_page=3&page=3'),
  ];
  expect(pages.flat()).toEqual(await list());
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(await list('?search=SUB-')).toEqual(['sub-one']);
  expect(await list('?search=person%20h')).toEqual(['group-one']);
  // Whose an address is that they show to nobody, administrators may ask.
  expect(await list('?search=Friend@example.com')).toEqual([]);
  const path = `/groups/${world.ids['top']}/billable_members?search=`;
  const whole = await as('administrator', 'GET', `${path}Friend@example.com`);
  expect(whole.body).toMatchObject([{ username: 'friend', email: null }]);
  expect((await as('administrator', 'GET', `${path}end@example`)).body).toEqual([]);
  expect(await list('?search=person&sort=name_desc&per_page=2')).toEqual(['group-one', 'sub-one']);
});

test('the billable list is rebuilt daily at noon', async () => {
  const json = { user_id: people['late'], access_level: 30 };
  await as('owner', 'POST', `/groups/${world.ids['top']}/members`, json);
  expect(await list()).not.toContain('late');
  await noon();
  await expect.poll(() => list()).toContain('late');
  expect(await world.store.billableLists.get(world.ids['top']!, new Date())).toMatchObject({ count: 8 });
});

test('a build of the billable list that runs out of time changes nothing', async () => {
  const groupId = world.ids['top']!;
  const before = await world.store.billableLists.get(groupId, new Date());
  expect(await buildList(deps(), groupId, 0)).toBe(false);
  expect(await world.store.billableLists.get(groupId, new Date())).toEqual(before);
});

test('a billable member’s memberships are listed, and all removed at once', async () => {
  const top = world.ids['top'];
  await as('owner', 'POST', `/projects/${inside}/members`, { user_id: people['sub-one'], access_level: 30 });
  const path = `/groups/${top}/billable_members/${people['sub-one']}`;
  const { body } = await as('owner', 'GET', `${path}/memberships`);
  expect(body).toMatchObject([
    {
      source_id: sub,
      source_full_name: 'Top / Sub',
      source_members_url: `${service.url}/groups/top/sub/-/group_members`,
      expires_at: null,
      access_level: { string_value: 'Reporter', integer_value: 20 },
    },
    {
      source_id: inside,
      source_full_name: 'Top / Sub / inside',
      source_members_url: `${service.url}/top/sub/inside/-/project_members`,
      access_level: { string_value: 'Developer', integer_value: 30 },
    },
  ]);
  const [one] = (await as('owner', 'GET', `${path}/memberships?per_page=1&page=2`)).body;
  expect(one.source_id).toBe(inside);
  expect((await as('owner', 'DELETE', path)).status).toBe(204);
  expect((await as('owner', 'GET', `${path}/memberships`)).body).toEqual([]);
  expect((await as('owner', 'GET', `/groups/${sub}/members/${people['sub-one']}`)).status).toBe(404);
  expect((await as('owner', 'DELETE', path)).status).toBe(404);
  // Whom an invited group brings goes with that.
  const friend = `/groups/${top}/billable_members/${people['friend']}`;
  expect((await as('owner', 'DELETE', friend)).status).toBe(404);
  const one2 = `/groups/${top}/billable_members/${people['group-one']}`;
  expect((await as('owner', 'DELETE', one2)).status).toBe(204);
  expect((await as('owner', 'GET', `/groups/${top}/members/${people['group-one']}`)).status).toBe(404);
});

test('@gitbeaker/rest lists and removes billable members', async () => {
  const api = new Gitlab({ host: service.url, token: world.tokens.owner! });
  const top = world.ids['top']!;
  const { id } = await service.user('by-client');
  await api.GroupMembers.add(sub, 20, { userId: id });
  const all = await api.GroupMembers.allBillable(top);
  expect(all.map((one) => [one['username'], one.membership_type])).toContainEqual(['owner', 'group_member']);
  const [one] = await api.GroupMembers.allBillableMemberships(top, id);
  expect(one).toMatchObject({ source_id: sub, access_level: { integer_value: 20 } });
  await api.GroupMembers.removeBillable(top, id);
  expect(await api.GroupMembers.allBillableMemberships(top, id)).toEqual([]);
});

test('one owner remains when two remove each other as billable members at once', async () => {
  const other = await service.user('other-owner');
  for (let n = 0; n < 3; n++) {
    const { body } = await as('owner', 'POST', '/groups', { name: `R${n}`, path: `removal-${n}` });
    const path = `/groups/${body.id}`;
    await as('owner', 'POST', `${path}/members`, { user_id: other.id, access_level: 50 });
    const answers = await Promise.all([
      as('owner', 'DELETE', `${path}/billable_members/${other.id}`),
      service.call('DELETE', `${path}/billable_members/${world.ids['owner']}`, { token: other.token }),
    ]);
    expect(answers.filter(({ status }) => status === 204).length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const left = (await as('administrator', 'GET', `${path}/members`)).body;
    expect(left.map((one: { access_level: number }) => one.access_level)).toContain(50);
  }
});

test('billable lists of more than one part are read and replaced whole', async () => {
  const lists = new BillableLists(world.store.table);
  const some = (count: number): BillableMember[] =>
    Array.from({ length: count }, (_, i) => ({
      userId: i + 1,
      type: i % 2 === 0 ? 'group_member' : 'project_invite',
      level: (i % 5) * 10,
      joined: '',
      activity: '',
      name: `n${String(i).padStart(5, '0')}`,
      username: `u${i}`,
      email: '',
    }));
  const now = new Date();
  const daysLater = (days: number) => new Date(now.getTime() + days * 86_400_000);
  // A list that nobody asked for is put in force nowhere.
  await lists.publish(77, some(1), now);
  expect(await lists.getAndExtend(77, now)).toBeUndefined();
  expect(await lists.claim(77, now)).toBe(true);
  expect(await lists.claim(77, now)).toBe(false);
  expect(await lists.claim(77, daysLater(1))).toBe(true);
  await lists.publish(77, some(2_500), now);
  const first = (await lists.get(77, now))!;
  const page = await lists.page(first, 'name', false, { page: 11, perPage: 100 });
  expect(page.items.map(({ userId }) => userId)).toEqual(Array.from({ length: 100 }, (_, i) => 1_001 + i));
  const last = await lists.page(first, 'name', true, { page: 26, perPage: 99 });
  expect([last.items.at(-1), last.more]).toEqual([{ userId: 1, type: 'group_member' }, false]);
  await lists.publish(77, some(3), now);
  // A reader goes on with the list that was current at its first page.
  expect((await lists.page(first, 'name', false, { page: 1, perPage: 20 })).items.length).toBe(20);
  const second = (await lists.get(77, now))!;
  expect((await lists.page(second, 'level', true, { page: 1, perPage: 20 })).items.length).toBe(3);
  expect(await lists.get(77, daysLater(2))).toBeDefined();
  expect(await lists.get(77, daysLater(4))).toBeUndefined();
  const kept = async (at: Date) => {
    for await (const groupId of lists.groupsToRefresh(at)) if (groupId === 77) return true;
    return false;
  };
  expect([await kept(daysLater(29)), await kept(daysLater(31))]).toEqual([true, false]);
  await lists.getAndExtend(77, daysLater(20));
  expect(await kept(daysLater(49))).toBe(true);
});
