/** Protected environments, as the API shows them. */
import { beforeAll, expect, test } from 'vitest';
import { MAX_RULES } from '../../../lib/store/refs/protection-rules.ts';
import { ruleCountKey } from '../../../lib/store/row-keys/refs.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

let id: number;
let groupId: number;
let at: string;
beforeAll(async () => {
  groupId = (await as('owner', 'POST', '/groups', { name: 'deployers', path: 'deployers' })).body.id;
  id = (await as('owner', 'POST', '/projects', { name: 'protects places', visibility: 'private' })).body.id;
  for (const [who, access_level] of [
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await as('owner', 'POST', `/projects/${id}/members`, { user_id: world.ids[who], access_level });
  await as('owner', 'POST', `/projects/${id}/share`, { group_id: groupId, group_access: 30 });
  at = `/projects/${id}/protected_environments`;
});
const protect = (name: string, deploy_access_levels: readonly object[], who: Who = 'maintainer') =>
  as(who, 'POST', at, { name, deploy_access_levels });

const shown = (grant: object) => ({
  id: expect.any(Number),
  access_level: null,
  user_id: null,
  group_id: null,
  ...grant,
});

test('one is shown as it was protected: by levels, users and groups; also before it exists', async () => {
  const { status, body } = await protect('production/eu', [
    { access_level: 30 },
    { access_level: 40 },
    { access_level: 60 },
    { user_id: world.ids['developer'] },
    { group_id: groupId },
  ]);
  expect([status, body]).toEqual([
    201,
    {
      name: 'production/eu',
      deploy_access_levels: [
        shown({ access_level: 30, access_level_description: 'Developers + Maintainers' }),
        shown({ access_level: 40, access_level_description: 'Maintainers' }),
        shown({ access_level: 60, access_level_description: 'Instance admins' }),
        shown({ user_id: world.ids['developer'], access_level_description: expect.any(String) }),
        // The maintainer does not see the private group.
        shown({ group_id: groupId, access_level_description: 'Group' }),
      ],
    },
  ]);
  expect((await as('maintainer', 'GET', `${at}/production%2Feu`)).body).toEqual(body);
});

test('they are listed by name, page by page', async () => {
  await protect('list-b', [{ access_level: 40 }]);
  await protect('list-a', [{ access_level: 40 }]);
  const all = await as('owner', 'GET', at);
  const names = all.body.map(({ name }: { name: string }) => name);
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(['list-a', 'list-b']));
  const second = await as('owner', 'GET', `${at}?per_page=1&page=2`);
  expect(second.body).toEqual([all.body[1]]);
  expect(second.headers.get('x-total')).toBe(`${all.body.length}`);
});

test('one that is protected already is refused, by its exact name', async () => {
  expect((await protect('twice', [{ access_level: 40 }])).status).toBe(201);
  const { status, body } = await protect('twice', [{ access_level: 30 }]);
  expect([status, body]).toEqual([409, { message: "Protected environment 'twice' already exists" }]);
  expect((await protect('Twice', [{ access_level: 40 }])).status).toBe(201);
  const [one] = (await as('owner', 'GET', `${at}/twice`)).body.deploy_access_levels;
  expect(one.access_level).toBe(40);
});

test('one is unprotected once', async () => {
  await protect('removed', [{ access_level: 40 }]);
  expect((await as('maintainer', 'DELETE', `${at}/removed`)).status).toBe(204);
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await as('maintainer', method, `${at}/removed`);
    expect([status, body]).toEqual([404, { message: '404 Not found' }]);
  }
});

test('names, levels and lists that are missing or wrong are refused', async () => {
  const status = async (json: object) => (await as('owner', 'POST', at, json)).status;
  expect(await status({ name: 'wrong' })).toBe(400);
  expect(await status({ deploy_access_levels: [{ access_level: 40 }] })).toBe(400);
  for (const access_level of [0, 10, 20, 50])
    expect(await status({ name: 'wrong', deploy_access_levels: [{ access_level }] })).toBe(400);
  expect(await status({ name: ' ', deploy_access_levels: [{ access_level: 40 }] })).toBe(422);
  expect(await status({ name: 'a'.repeat(1025), deploy_access_levels: [{ access_level: 40 }] })).toBe(422);
});

test('users and groups that have no access to the project are refused, and entries that name nobody or two', async () => {
  const problems = async (levels: readonly object[]) => {
    const { status, body } = await protect('unfit', levels);
    expect(status).toBe(422);
    return body.message;
  };
  expect(await problems([{ user_id: world.ids['stranger'] }])).toEqual([
    'Deploy access levels user is not a member of the project',
  ]);
  const { id: other } = (await as('owner', 'POST', '/groups', { name: 'unshared', path: 'unshared' })).body;
  expect(await problems([{ group_id: other }])).toEqual([
    'Deploy access levels group does not have access to the project',
  ]);
  expect(await problems([])).toEqual(["Deploy access levels can't be blank"]);
  await problems([{}]);
  await problems([{ access_level: 40, user_id: world.ids['developer'] }]);
  await problems([{ access_level: 40 }, { access_level: 40 }]);
  expect((await as('owner', 'GET', `${at}/unfit`)).status).toBe(404);
});

test('a project has 500 at most', async () => {
  const made = await as('owner', 'POST', '/projects', { name: 'protects many' });
  const path = `/projects/${made.body.id}/protected_environments`;
  await world.store.table.update({ update: ruleCountKey(made.body.id), set: { environment: MAX_RULES } });
  const json = { name: 'more', deploy_access_levels: [{ access_level: 40 }] };
  const { status, body } = await as('owner', 'POST', path, json);
  expect([status, body.message]).toEqual([422, ['The limit of 500 rules is reached']]);
});

test('only maintainers see and change them; strangers learn nothing', async () => {
  await protect('hidden', [{ access_level: 40 }]);
  for (const [who, expected] of [
    ['developer', 403],
    ['stranger', 404],
    ['anonymous', 401],
  ] as const) {
    expect((await as(who, 'GET', at)).status).toBe(expected);
    expect((await as(who, 'GET', `${at}/hidden`)).status).toBe(expected);
    expect((await protect('theirs', [{ access_level: 30 }], who)).status).toBe(expected);
    expect((await as(who, 'DELETE', `${at}/hidden`)).status).toBe(expected);
  }
  expect((await as('owner', 'GET', `${at}/hidden`)).status).toBe(200);
});
