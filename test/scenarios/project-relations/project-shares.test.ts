import { beforeAll, describe, expect, test } from 'vitest';
import type { AccessLevel } from '../../../lib/records/members.ts';
import { treePartition } from '../../../lib/store/row-keys/groups.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Who } from '../../harness/world.ts';

/**
 * The owner's groups `top`, `top/mid` and `top/mid/low`, with a developer in the first, a reporter in the second and a
 * guest in the last; projects are shared with `mid`.
 */
const { as, world } = ownWorld();
beforeAll(async () => {
  const people = {
    top: { who: 'developer', level: 40 },
    mid: { who: 'reporter', level: 20 },
    low: { who: 'guest', level: 30 },
  } as const;
  let parent_id: number | undefined;
  for (const name of ['top', 'mid', 'low'] as const) {
    parent_id = await group(name, parent_id === undefined ? {} : { parent_id });
    await join(parent_id, people[name].who, people[name].level);
    world.ids[name] = parent_id;
  }
  world.ids['hidden'] = await group('hidden', {}, 'stranger');
  world.ids['shared'] = await project('shared');
});

async function made(who: Who, path: string, json: unknown): Promise<number> {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}
const group = (path: string, more: object = {}, who: Who = 'owner') =>
  made(who, '/groups', { name: path, path, ...more });
const project = (name: string, more: object = {}) => made('owner', '/projects', { name, ...more });
async function join(id: number, who: Who, accessLevel: AccessLevel) {
  const source = { kind: 'group', id } as const;
  const createdAt = new Date().toISOString();
  const member = { source, userId: world.ids[who]!, accessLevel, createdAt, expiresAt: null };
  await world.store.members.add({ ...member, createdById: null });
}
const share = (id: number, group_id: number | undefined, more: object = {}) =>
  as('owner', 'POST', `/projects/${id}/share`, { group_id, group_access: 30, ...more });
const names = async (who: Who, path: string): Promise<string> => {
  const { status, body } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map((each: { path?: string; username?: string }) => each.path ?? each.username).join(' ');
};
const own = (who: Who, query = '') => names(who, `/projects?membership=true&search=shared${query}`);

describe('permission to share a project with a group', () => {
  const json = () => ({ group_id: world.ids['mid']!, group_access: 30 });
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{private}/share',
        json,
        as: {
          anonymous: 401,
          stranger: 404,
          external: 404,
          former: 404,
          guest: 403,
          developer: 403,
          // A maintainer who cannot see the group gets the answer for an absent one.
          maintainer: { status: 404, holds: { message: '404 Not Found' } },
          owner: 201,
          read_api: 403,
          blocked: 403,
        },
        hides: ['secret of'],
        look: ({ status, body }) => {
          if (status !== 201) return;
          const wanted = {
            id: expect.any(Number),
            project_id: world.ids['private'],
            group_id: world.ids['mid'],
          };
          expect(body).toEqual({ ...wanted, group_access: 30, expires_at: null });
        },
      },
      {
        request: 'POST /projects/{private}/share',
        json,
        as: { owner: { status: 409, holds: { message: 'Group already shared with this group' } } },
      },
      {
        request: 'DELETE /projects/{private}/share/{mid}',
        as: { anonymous: 401, stranger: 404, guest: 403, developer: 403, read_api: 403 },
      },
      {
        request: 'DELETE /projects/{private}/share/{mid}',
        headers: { 'If-Unmodified-Since': 'Sat, 01 Jan 2000 00:00:00 GMT' },
        as: { owner: 412 },
      },
      { request: 'DELETE /projects/{private}/share/{mid}', as: { maintainer: 204 } },
      {
        request: 'DELETE /projects/{private}/share/{mid}',
        as: { maintainer: { status: 404, holds: { message: '404 Group Link Not Found' } } },
      },
    ],
  );

  test.each<[object, number, unknown]>([
    [{}, 400, { error: 'group_id is missing, group_access is missing' }],
    [{ group_id: 'x', group_access: 30 }, 400, { error: 'group_id is invalid' }],
    [{ group_id: 1, group_access: 50 }, 400, { error: 'group_access does not have a valid value' }],
    [{ group_id: 1, group_access: 0 }, 400, { error: 'group_access does not have a valid value' }],
    [{ group_id: 999_999, group_access: 30 }, 404, { message: '404 Not Found' }],
    [{ group_id: 'hidden', group_access: 30 }, 404, { message: '404 Not Found' }],
    [
      { group_id: 'mid', group_access: 30, expires_at: '2020-01-01' },
      400,
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
    [{ group_id: 'mid', group_access: 30, expires_at: 'soon' }, 400, { error: 'expires_at is invalid' }],
  ])('with %j is answered with %i', async (json, status, body) => {
    const named = Object.entries(json).map(([name, value]) => [name, world.ids[value as string] ?? value]);
    const answer = await as(
      'owner',
      'POST',
      `/projects/${world.ids['shared']}/share`,
      Object.fromEntries(named),
    );
    expect(answer).toMatchObject({ status, body });
  });
});

test('a share may end today: it has ended then, and is replaced by the next one', async () => {
  const { body: group } = await as('owner', 'POST', '/groups', { name: 'Shares of a day', path: 'of-a-day' });
  const expires_at = new Date().toISOString().slice(0, 10);
  for (const place of [`/projects/${world.ids['shared']}`, '/groups/of-a-day']) {
    const group_id = place.startsWith('/groups') ? world.ids['mid'] : group.id;
    const shared = (end: string | null) =>
      as('owner', 'POST', `${place}/share`, { group_id, group_access: 10, expires_at: end });
    expect((await shared(expires_at)).status).toBe(201);
    expect((await shared(null)).status).toBe(201);
    expect((await shared(null)).status).toBe(409);
    expect((await as('owner', 'DELETE', `${place}/share/${group_id}`)).status).toBe(204);
  }
});

describe('a project shared with a group', () => {
  const level = async (who: Who) => {
    const { status, body } = await as(
      who,
      'GET',
      `/projects/${world.ids['shared']}/members/all/${world.ids[who]}`,
    );
    return status === 200 ? body.access_level : status;
  };
  beforeAll(async () => {
    expect(await share(world.ids['shared']!, world.ids['mid'])).toMatchObject({ status: 201 });
  });

  test('gives access to members of the group and its ancestors, up to the level of the share', async () => {
    expect(await Promise.all((['developer', 'reporter', 'guest', 'stranger'] as const).map(level))).toEqual([
      // 40 in the group above, and no more than the share gives.
      30, 20,
      // A member of a group below is no member.
      404, 404,
    ]);
  });

  test.each<[Who, string, string]>([
    ['developer', '', 'shared'],
    ['developer', '&min_access_level=30', 'shared'],
    ['developer', '&min_access_level=40', ''],
    ['developer', '&owned=true', ''],
    ['developer', '&order_by=name&visibility=private', 'shared'],
    ['reporter', '', 'shared'],
    ['reporter', '&min_access_level=30', ''],
    ['guest', '', ''],
    ['stranger', '', ''],
    ['external', '', ''],
  ])('is in the list of %s%s: %s', async (who, query, expected) => {
    expect(await own(who, query)).toBe(expected);
    const walked = await names(who, `/projects?membership=true&per_page=100${query}`);
    expect(walked.split(' ').includes('shared')).toBe(expected !== '');
  });

  test('shows the groups it is shared with that the caller can see', async () => {
    const of = async (who: Who) => (await as(who, 'GET', `/projects/${world.ids['shared']}`)).body;
    const link = { group_id: world.ids['mid'], group_name: 'mid', group_full_path: 'top/mid' };
    const shown = [{ ...link, group_access_level: 30, expires_at: null }];
    expect((await of('owner')).shared_with_groups).toEqual(shown);
    expect((await of('reporter')).shared_with_groups).toEqual(shown);
    expect(await of('stranger')).toMatchObject({ message: '404 Project Not Found' });
    await as('owner', 'POST', `/projects/${world.ids['public']}/share`, { ...shown[0], group_access: 10 });
    const { body } = await as('stranger', 'GET', `/projects/${world.ids['public']}`);
    expect(body.shared_with_groups).toEqual([]);
    expect((await as('stranger', 'GET', '/projects?per_page=100')).body.flatMap(shownWith)).toEqual([]);
    expect((await as('reporter', 'GET', '/projects?per_page=100')).body.flatMap(shownWith)).toHaveLength(2);
    await as('owner', 'DELETE', `/projects/${world.ids['public']}/share/${world.ids['mid']}`);
  });
  const shownWith = (each: { shared_with_groups: unknown[] }) => each.shared_with_groups;

  test('is listed under the shared projects of that group only', async () => {
    expect(await names('reporter', '/groups/top%2Fmid/projects')).toBe('shared');
    expect(await names('reporter', '/groups/top%2Fmid/projects?with_shared=false')).toBe('');
    expect(await names('reporter', '/groups/top%2Fmid/projects/shared')).toBe('shared');
    expect(await names('reporter', '/groups/top%2Fmid/projects/shared?search=nothing')).toBe('');
    expect(await names('owner', '/groups/top%2Fmid/projects/shared?visibility=private&order_by=name')).toBe(
      'shared',
    );
    expect(await names('developer', '/groups/top/projects/shared')).toBe('');
    expect(await names('developer', '/groups/top/projects?include_subgroups=true')).toBe('');
    expect((await as('reporter', 'GET', '/groups/top%2Fmid')).body.shared_projects).toMatchObject([
      { path: 'shared' },
    ]);
    // What a member below sees of the group holds nothing that is shared with it.
    expect((await as('guest', 'GET', '/groups/top%2Fmid')).body).toMatchObject({
      path: 'mid',
      shared_projects: [],
    });
  });

  test.each<[Who, string, string]>([
    ['reporter', 'users', 'reporter developer owner'],
    ['reporter', 'users?search=ER', 'reporter developer owner'],
    ['reporter', 'users?search=devel', 'developer'],
    ['reporter', 'users?skip_users[]={developer}&skip_users[]={owner}', 'reporter'],
    ['reporter', 'users?per_page=1&page=2', 'developer'],
    ['reporter', 'groups', ''],
    ['reporter', 'groups?with_shared=true', 'top/mid'],
    ['reporter', 'groups?with_shared=true&shared_min_access_level=30', 'top/mid'],
    ['reporter', 'groups?with_shared=true&shared_min_access_level=40', ''],
    ['reporter', 'groups?with_shared=true&shared_visible_only=true', ''],
    ['reporter', 'groups?with_shared=true&skip_groups[]={mid}', ''],
    ['reporter', 'groups?with_shared=true&search=MI', 'top/mid'],
    ['reporter', 'groups?with_shared=true&search=top', ''],
  ])('lists for %s under %s: %s', async (who, path, expected) => {
    const named = path.replace(/\{(\w+)\}/g, (_, name) => String(world.ids[name]));
    const { status, body } = await as(who, 'GET', `/projects/${world.ids['shared']}/${named}`);
    expect(status, JSON.stringify(body)).toBe(200);
    const found = body.map(
      (each: { full_path?: string; username?: string }) => each.full_path ?? each.username,
    );
    // Users come by id, and people of a world are made together.
    expect(found.toSorted()).toEqual(expected.split(' ').filter(Boolean).toSorted());
  });

  test('loses the share on its expiry day and can be shared again', async () => {
    const { projects } = world.store;
    const record = (await projects.get(world.ids['shared']!))!;
    const ended = record.shares.map((each) => ({ ...each, expiresAt: '2020-01-01' }));
    const invited = (await world.store.groups.get(world.ids['mid']!))!;
    await world.store.projectShares.add(record, invited, ended);
    expect([await level('developer'), await own('developer')]).toEqual([404, '']);
    expect(await names('reporter', '/groups/top%2Fmid/projects')).toBe('');
    expect(await names('reporter', '/groups/top%2Fmid/projects/shared')).toBe('');
    expect((await as('owner', 'GET', `/projects/${record.id}`)).body.shared_with_groups).toEqual([]);
    expect(await as('owner', 'DELETE', `/projects/${record.id}/share/${invited.id}`)).toMatchObject({
      status: 404,
    });
    const again = await share(record.id, invited.id, { expires_at: '2099-12-31' });
    expect(again).toMatchObject({ status: 201, body: { expires_at: '2099-12-31' } });
    expect((await projects.get(record.id))!.shares).toHaveLength(1);
    expect([await level('developer'), await own('developer')]).toEqual([30, 'shared']);
  });
});

test('a project cannot be shared where its group disables sharing', async () => {
  const keeping = await group('keeping');
  const inner = await group('inner', { parent_id: keeping });
  const kept = await project('shared-inside', { namespace_id: inner });
  expect(await share(kept, keeping)).toMatchObject({
    status: 409,
    body: { message: 'Project cannot be shared with the group it is in or one of its ancestors.' },
  });
  expect(await share(kept, world.ids['mid'])).toMatchObject({ status: 201 });
  expect(await own('reporter')).toBe('shared-inside shared');
  await as('owner', 'PUT', `/groups/${keeping}`, { share_with_group_lock: true });
  // What was shared before gives nothing either.
  expect(await own('reporter')).toBe('shared');
  expect(await as('reporter', 'GET', `/projects/${kept}`)).toMatchObject({ status: 404 });
  expect(await names('owner', `/projects/${kept}/users`)).toBe('owner');
  expect(await share(kept, world.ids['low'])).toMatchObject({
    status: 400,
    body: { message: 'The project sharing with group is disabled' },
  });
  const settings = { share_with_group_lock: false, prevent_sharing_groups_outside_hierarchy: true };
  await as('owner', 'PUT', `/groups/${keeping}`, settings);
  expect(await share(kept, world.ids['low'])).toMatchObject({
    status: 404,
    body: { message: '404 Not Found' },
  });
  expect(await share(kept, await group('beside', { parent_id: keeping }))).toMatchObject({ status: 201 });
});

const rowsOf = async (name: string) => {
  const rows: string[] = [];
  for await (const { sk } of world.store.table.queryAll({
    partition: treePartition(world.ids[name]!),
    prefix: 'SHARED',
  }))
    rows.push(sk as string);
  return rows.map((row) => `${row.split('#')[0]} ${Number(row.split('#').at(-1))}`);
};

test('a share survives a move of the invited group and ends with its deletion', async () => {
  const [a, b, c] = [await group('a'), await group('b'), await group('c')];
  const moving = await group('moving', { parent_id: a });
  const deep = await group('deep', { parent_id: moving });
  Object.assign(world.ids, { a, b, c, moving, deep });
  await join(a, 'developer', 30);
  await join(b, 'maintainer', 30);
  const id = await project('shared-along');
  expect(await share(id, deep)).toMatchObject({ status: 201 });
  const all = () => Promise.all(['a', 'b', 'moving', 'deep'].map(rowsOf));
  expect(await all()).toEqual([[`SHAREDBELOW ${id}`], [], [`SHAREDBELOW ${id}`], [`SHARED ${id}`]]);
  expect([await own('developer', '-along'), await own('maintainer', '-along')]).toEqual(['shared-along', '']);
  await as('owner', 'POST', `/groups/${moving}/transfer`, { group_id: b });
  expect(await all()).toEqual([[], [`SHAREDBELOW ${id}`], [`SHAREDBELOW ${id}`], [`SHARED ${id}`]]);
  expect([await own('developer', '-along'), await own('maintainer', '-along')]).toEqual(['', 'shared-along']);

  // Shared while the group moves to and fro: the rows end where it is.
  const other = await project('shared-meanwhile');
  const answers = await Promise.all([
    as('owner', 'POST', `/groups/${moving}/transfer`, { group_id: a }),
    share(other, deep),
  ]);
  expect(answers[1]!.status).toBe(201);
  const at = (await world.store.groups.get(deep))!.ancestorIds;
  for (const name of ['a', 'b'])
    expect((await rowsOf(name)).includes(`SHAREDBELOW ${other}`), name).toBe(at.includes(world.ids[name]!));

  await as('owner', 'DELETE', `/projects/${other}/share/${deep}`);
  await as('owner', 'DELETE', `/groups/${moving}`);
  expect(await all()).toEqual([[], [], [], []]);
  expect((await world.store.projects.get(id))!.shares).toEqual([]);
});

test('a project shared and deleted at once leaves no rows behind', async () => {
  for (let round = 0; round < 4; round++) {
    const over = await group(`over-${round}`);
    const inner = await group('inner', { parent_id: over });
    Object.assign(world.ids, { over, inner });
    const id = await project(`racing-${round}`);
    const [shared, deleted] = await Promise.all([
      share(id, inner),
      as('owner', 'DELETE', `/groups/${round % 2 === 0 ? over : inner}`),
    ]);
    expect([201, 404]).toContain(shared.status);
    expect(deleted.status).toBe(202);
    await expect.poll(() => Promise.all(['over', 'inner'].map(rowsOf))).toEqual([[], []]);
    expect((await world.store.projects.get(id))!.shares).toEqual([]);
  }
});

test('one of two simultaneous shares with the same group gets an error', async () => {
  const id = await project('shared-twice');
  const answers = await Promise.all(Array.from({ length: 4 }, () => share(id, world.ids['mid'])));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  const edits = await Promise.all([
    share(id, world.ids['top']),
    share(id, world.ids['low']),
    as('owner', 'DELETE', `/projects/${id}/share/${world.ids['mid']}`),
  ]);
  expect(edits.map(({ status }) => status)).toEqual([201, 201, 204]);
  const left = (await world.store.projects.get(id))!.shares.map(({ groupId }) => groupId);
  expect(left.toSorted()).toEqual([world.ids['top'], world.ids['low']].toSorted());
});

test('a deleted project leaves no rows with the groups it was shared with', async () => {
  const before = [await rowsOf('top'), await rowsOf('mid')];
  const id = await project('shared-shortly');
  await share(id, world.ids['mid']);
  expect(await rowsOf('mid')).toContain(`SHARED ${id}`);
  await as('owner', 'DELETE', `/projects/${id}`);
  await expect.poll(async () => [await rowsOf('top'), await rowsOf('mid')]).toEqual(before);
});
