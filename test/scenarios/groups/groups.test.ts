import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Who } from '../../harness/world.ts';

const { as, service, world } = ownWorld();
const LEVELS = { guest: 10, reporter: 20, developer: 30, maintainer: 40, blocked: 40, former: 40 } as const;
beforeAll(async () => {
  for (const visibility of ['public', 'internal', 'private'] as const) {
    const group = await made('owner', `${visibility}-group`, { visibility, description: 'secret of groups' });
    world.ids[`g_${visibility}`] = group.id;
    for (const [name, accessLevel] of Object.entries(LEVELS) as [Who, 10][]) {
      await world.store.members.add({
        source: { kind: 'group', id: group.id },
        userId: world.ids[name]!,
        accessLevel,
        createdAt: new Date().toISOString(),
        expiresAt: name === 'former' ? '2020-01-01' : null,
        createdById: null,
      });
    }
  }
});

let count = 0;
const fresh = (prefix = 'fresh') => `${prefix}-${++count}`;
async function made(who: Who, path: string, more: Record<string, unknown> = {}) {
  const answer = await as(who, 'POST', '/groups', { name: path, path, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const put = (group: { id: number }, name: string, more: Record<string, unknown> = {}) =>
  as('owner', 'POST', '/projects', { name, namespace_id: group.id, ...more });

const MEMBERS = { guest: 403, reporter: 403, developer: 403, maintainer: 403 } as const;
const hides = ['secret of'];

describe('permission on groups', () => {
  scenarios(
    () => world,
    [
      {
        request: 'GET /groups/{g_private}',
        as: {
          anonymous: 404,
          stranger: 404,
          external: 404,
          former: 404,
          guest: 200,
          reporter: 200,
          owner: 200,
          administrator: 200,
          read_api: 200,
          read_user: 403,
          read_repository: 403,
          ...BAD,
        },
        holds: { full_path: 'private-group', description: 'secret of groups', projects: [] },
        hides,
      },
      {
        request: 'GET /groups/{g_internal}',
        as: { anonymous: 404, external: 404, stranger: 200, former: 200, guest: 200 },
        hides,
      },
      {
        request: 'GET /groups/public-group',
        as: { anonymous: 200, external: 200, stranger: 200, ...BAD },
      },
      { request: 'GET /groups/999999', as: { anonymous: 404, owner: 404, administrator: 404 } },
      { request: 'GET /groups/99999999999999999999', as: { anonymous: 404, owner: 404 } },
      { request: 'GET /groups/owner', as: { owner: 404 } },
      {
        request: 'POST /groups',
        json: () => ({ name: 'Made', path: fresh('made') }),
        as: {
          anonymous: 401,
          stranger: 201,
          external: 403,
          administrator: 201,
          read_api: 403,
          write_repository: 403,
          ...BAD,
        },
        holds: { visibility: 'private', parent_id: null, project_creation_level: 'developer' },
      },
      {
        request: 'POST /groups',
        json: (w) => ({ name: fresh('Inside'), path: fresh('inside'), parent_id: w.ids['g_private']! }),
        as: {
          anonymous: 401,
          stranger: { status: 404, holds: { message: '404 Group Not Found' } },
          former: { status: 404, holds: { message: '404 Group Not Found' } },
          guest: 403,
          developer: 403,
          maintainer: 201,
          owner: 201,
          administrator: 201,
        },
        holds: (w) => ({ parent_id: w.ids['g_private']! }),
        hides,
      },
      {
        request: 'PUT /groups/{g_private}',
        json: { description: 'secret of groups' },
        as: {
          anonymous: 401,
          stranger: 404,
          former: 404,
          ...MEMBERS,
          owner: 200,
          administrator: 200,
          ...BAD,
        },
        hides,
      },
      {
        request: 'PUT /groups/{g_public}',
        json: { description: 'x' },
        as: { anonymous: 401, stranger: 403, ...MEMBERS, owner: 200, read_api: 403 },
      },
      {
        request: 'DELETE /groups/{g_private}',
        as: { anonymous: 401, stranger: 404, ...MEMBERS, read_api: 403, ...BAD },
        hides,
      },
      {
        request: async function deletion(_, who) {
          return `DELETE /groups/${(await made('owner', fresh(`gone-${who}`))).id}`;
        },
        as: { owner: 202, administrator: 202 },
        holds: { message: '202 Accepted' },
      },
      {
        request: 'POST /groups/{g_private}/transfer',
        json: {},
        as: { anonymous: 401, stranger: 404, ...MEMBERS, owner: 400, ...BAD },
        hides,
      },
      {
        request: 'POST /groups/{g_private}/share',
        json: (w) => ({ group_id: w.ids['g_public']!, group_access: 30 }),
        as: { anonymous: 401, stranger: 404, ...MEMBERS },
        hides,
      },
      {
        request: 'DELETE /groups/{g_private}/share/{g_public}',
        as: {
          anonymous: 401,
          stranger: 404,
          ...MEMBERS,
          owner: { status: 404, holds: { message: '404 Group Link Not Found' } },
        },
        hides,
      },
      {
        request: 'POST /projects',
        json: (w) => ({ name: fresh('project'), namespace_id: w.ids['g_private']! }),
        as: {
          stranger: { status: 400, holds: { message: { namespace: ['is not valid'] } } },
          former: { status: 400, holds: { message: { namespace: ['is not valid'] } } },
          guest: { status: 400, holds: { message: { namespace: ['is not valid'] } } },
          developer: 201,
          maintainer: 201,
          owner: 201,
          administrator: 201,
        },
        holds: (w) => ({
          namespace: { id: w.ids['g_private']!, kind: 'group', full_path: 'private-group', parent_id: null },
        }),
        hides,
      },
    ],
  );
});

test('a group update returns all settings and changes only those given', async () => {
  const settings = {
    share_with_group_lock: true,
    require_two_factor_authentication: true,
    two_factor_grace_period: 12,
    project_creation_level: 'noone',
    auto_devops_enabled: true,
    subgroup_creation_level: 'owner',
    emails_disabled: true,
    mentions_disabled: true,
    lfs_enabled: false,
    default_branch_protection: 1,
    request_access_enabled: false,
    membership_lock: true,
  };
  const group = await made('owner', fresh(), settings);
  expect(group).toMatchObject({ ...settings, file_template_project_id: null });
  const changed = await as('owner', 'PUT', `/groups/${group.id}`, {
    lfs_enabled: true,
    prevent_sharing_groups_outside_hierarchy: true,
    shared_runners_setting: 'disabled_with_override',
  });
  expect(changed.body).toMatchObject({
    ...settings,
    lfs_enabled: true,
    prevent_sharing_groups_outside_hierarchy: true,
    shared_runners_setting: 'disabled_with_override',
  });
  const refused = await as('maintainer', 'POST', '/projects', { name: 'x', namespace_id: group.id });
  expect(refused.status).toBe(400);
});

test.each([
  [{}, { error: 'name is missing, path is missing' }],
  [{ name: 'a', path: 'b', visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
  [{ name: 'a', path: 'b', parent_id: 'x' }, { error: 'parent_id is invalid' }],
  [{ name: 'a', path: 'b', parent_id: 999999 }, { message: '404 Group Not Found' }],
  [
    { name: 'a', path: 'public-group' },
    { message: 'Failed to save group {:path=>["has already been taken"]}' },
  ],
  [{ name: 'a', path: 'OWNER' }, { message: 'Failed to save group {:path=>["has already been taken"]}' }],
  [{ name: '', path: 'b' }, { message: 'Failed to save group {:name=>["can\'t be blank"]}' }],
  [{ name: 'a', path: 'api' }, { message: 'Failed to save group {:path=>["api is a reserved name"]}' }],
  [
    { name: 'a', path: 'a.git' },
    { message: expect.stringMatching(/^Failed to save group \{:path=>\["can con/) },
  ],
  [{ name: 'a', path: 'a/b' }, { message: expect.stringMatching(/^Failed to save group/) }],
  [{ name: 'a', path: '..' }, { message: expect.stringMatching(/^Failed to save group/) }],
  [{ name: 'a / b', path: 'b' }, { message: expect.stringMatching(/^Failed to save group \{:name=>/) }],
  [
    { name: 'a', path: 'b', description: 'x'.repeat(501) },
    { message: expect.stringMatching(/^Failed to save group \{:description=>/) },
  ],
])('a group update is refused: %j', async (json, body) => {
  expect((await as('owner', 'POST', '/groups', json)).body).toEqual(body);
});

test('group updates of different attributes at once are all kept', async () => {
  const path = fresh('shared');
  const { id } = (await as('owner', 'POST', '/groups', { name: path, path })).body;
  const changes = [
    { description: 'For all' },
    { request_access_enabled: false },
    { mentions_disabled: true },
    { project_creation_level: 'maintainer' },
  ];
  const answers = await Promise.all(changes.map((json) => as('owner', 'PUT', `/groups/${id}`, json)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await as('owner', 'GET', `/groups/${id}`)).body).toMatchObject(Object.assign({}, ...changes));
});

test('nothing in a group is more visible than the group', async () => {
  const outer = await made('owner', fresh(), { visibility: 'internal' });
  const refused = await as('owner', 'POST', '/groups', {
    name: 'x',
    path: 'x',
    parent_id: outer.id,
    visibility: 'public',
  });
  expect(refused.body.message).toBe(
    'Failed to save group {:visibility_level=>["public is not allowed since the parent group has a internal visibility."]}',
  );
  expect((await put(outer, 'open', { visibility: 'public' })).body.message).toEqual({
    visibility_level: ['public is not allowed in a internal group.'],
  });
  const inner = await made('owner', 'inner', { parent_id: outer.id, visibility: 'internal' });
  const lower = () => as('owner', 'PUT', `/groups/${outer.id}`, { visibility: 'private' });
  expect(await lower()).toMatchObject({
    status: 400,
    body: {
      message: {
        visibility_level: ['private is not allowed since there are sub-groups with higher visibility.'],
      },
    },
  });
  await as('owner', 'PUT', `/groups/${inner.id}`, { visibility: 'private' });
  const project = (await put(outer, 'code', { visibility: 'internal' })).body;
  expect((await lower()).body.message.visibility_level[0]).toContain('contains projects with higher');
  await as('owner', 'DELETE', `/projects/${project.id}`);
  expect(await lower()).toMatchObject({ status: 200, body: { visibility: 'private' } });
  const raised = await as('owner', 'PUT', `/groups/${inner.id}`, { visibility: 'public' });
  expect(raised.body.message.visibility_level).toHaveLength(1);
});

test('a group shows the projects that the caller can see', async () => {
  const group = await made('owner', fresh(), { visibility: 'public' });
  const open = (await put(group, 'open', { visibility: 'public' })).body;
  const hidden = (await put(group, 'hidden')).body;
  const shown = async (who: Who, query = '') =>
    (await as(who, 'GET', `/groups/${group.id}${query}`)).body.projects?.map((p: { id: number }) => p.id);
  expect(await shown('owner')).toEqual([hidden.id, open.id]);
  expect(await shown('stranger')).toEqual([open.id]);
  expect(await shown('anonymous')).toEqual([open.id]);
  expect(await shown('owner', '?with_projects=false')).toBeUndefined();
});

test('a project shows its direct and inherited access level, alone and in lists', async () => {
  const group = await made('owner', fresh());
  const project = (await put(await made('owner', 'in', { parent_id: group.id }), fresh('code'))).body;
  for (const [source, name, accessLevel] of [
    [{ kind: 'group', id: group.id }, 'developer', 30],
    [{ kind: 'group', id: group.id }, 'maintainer', 20],
    [{ kind: 'project', id: project.id }, 'maintainer', 40],
  ] as const) {
    const more = { createdAt: new Date().toISOString(), expiresAt: null, createdById: null };
    await world.store.members.add({ source, userId: world.ids[name]!, accessLevel, ...more });
  }
  const level = (access_level: number) => expect.objectContaining({ access_level });
  for (const [who, permissions] of [
    ['owner', { project_access: level(40), group_access: level(50) }],
    ['developer', { project_access: null, group_access: level(30) }],
    ['maintainer', { project_access: level(40), group_access: level(20) }],
    ['administrator', { project_access: null, group_access: null }],
  ] as const) {
    const alone = await as(who, 'GET', `/projects/${project.id}`);
    expect(alone.body.permissions, who).toEqual(permissions);
    const listed = await as(who, 'GET', `/projects?search=${project.name}`);
    expect(listed.body.map((each: { permissions: unknown }) => each.permissions)).toEqual([permissions]);
  }
});

test('a member of a descendant sees its ancestor groups and nothing else in them', async () => {
  const group = await made('owner', fresh(), { description: 'above' });
  const inner = await made('owner', 'inner', { parent_id: group.id });
  const sibling = await made('owner', 'sibling', { parent_id: group.id });
  const [project, hidden] = [(await put(inner, 'code')).body, (await put(group, 'hidden')).body];
  const seen = async () => {
    const paths = [`/groups/${group.id}`, `/groups/${inner.id}`, `/groups/${sibling.id}`];
    const all = [...paths, `/groups/${group.id}/members`, `/projects/${hidden.id}`];
    return Promise.all(all.map(async (path) => (await as('stranger', 'GET', path)).status));
  };
  expect(await seen()).toEqual([404, 404, 404, 404, 404]);
  const json = { user_id: world.ids['stranger'], access_level: 20 };
  await as('owner', 'POST', `/projects/${project.id}/members`, json);
  expect(await seen()).toEqual([200, 200, 404, 403, 404]);
  expect((await as('stranger', 'GET', `/groups/${group.id}`)).body).toMatchObject({
    description: 'above',
    projects: [],
  });
  expect((await as('stranger', 'PUT', `/groups/${group.id}`, { name: 'x' })).status).toBe(403);
  await as('owner', 'DELETE', `/projects/${project.id}/members/${world.ids['stranger']}`);
  expect(await seen()).toEqual([404, 404, 404, 404, 404]);
});

test('one of many simultaneous creations of a group path succeeds', async () => {
  const path = fresh('wanted');
  const all = await Promise.all(
    (['owner', 'stranger', 'guest', 'maintainer'] as const).map((who) =>
      as(who, 'POST', '/groups', { name: path, path: who === 'guest' ? path.toUpperCase() : path }),
    ),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
});

describe('moving a group', () => {
  test('to another path keeps its contents, and the old path still leads to it', async () => {
    const [was, is] = [fresh('was'), fresh('is')];
    const group = await made('owner', was);
    const inner = await made('owner', 'inner', { parent_id: group.id });
    const project = (await put(inner, 'code')).body;
    const renamed = await as('owner', 'PUT', `/groups/${group.id}`, { path: is, name: 'Renamed' });
    expect(renamed).toMatchObject({ status: 200, body: { full_path: is, full_name: 'Renamed' } });
    for (const path of [was, is]) {
      const found = await as('owner', 'GET', `/groups/${path}%2Finner`);
      expect(found.body).toMatchObject({
        id: inner.id,
        full_name: 'Renamed / inner',
        full_path: `${is}/inner`,
      });
      expect((await as('owner', 'GET', `/projects/${path}%2Finner%2Fcode`)).body).toMatchObject({
        id: project.id,
        path_with_namespace: `${is}/inner/code`,
        name_with_namespace: 'Renamed / inner / code',
        namespace: {
          id: inner.id,
          name: 'inner',
          path: 'inner',
          kind: 'group',
          full_path: `${is}/inner`,
          parent_id: group.id,
          web_url: `${service.url}/groups/${is}/inner`,
        },
      });
    }
    const taken = await as('owner', 'PUT', `/groups/${group.id}`, { path: 'public-group' });
    expect(taken).toMatchObject({ status: 400, body: { message: { path: ['has already been taken'] } } });
  });

  test('into and out of another group changes access at once', async () => {
    const [target, group] = [await made('owner', fresh('target')), await made('owner', fresh('moved'))];
    const project = (await put(group, 'code')).body;
    await world.store.members.add({
      source: { kind: 'group', id: target.id },
      userId: world.ids['stranger']!,
      accessLevel: 20,
      createdAt: new Date().toISOString(),
      expiresAt: null,
      createdById: null,
    });
    const seen = async () => (await as('stranger', 'GET', `/projects/${project.id}`)).status;
    const transfer = (json: unknown, who: Who = 'owner') =>
      as(who, 'POST', `/groups/${group.id}/transfer`, json);
    expect(await seen()).toBe(404);
    expect((await transfer({})).body.message).toBe('Transfer failed: Group is already a root group.');
    expect((await transfer({ group_id: 999999 })).body.message).toBe('404 Group Not Found');
    const moved = await transfer({ group_id: target.id });
    expect(moved).toMatchObject({
      status: 201,
      body: { parent_id: target.id, full_path: `${target.path}/${group.path}` },
    });
    expect(await seen()).toBe(200);
    expect((await transfer({ group_id: target.id })).body.message).toBe(
      'Transfer failed: Group is already associated to the parent group.',
    );
    expect(await transfer({})).toMatchObject({ status: 201, body: { parent_id: null } });
    expect(await seen()).toBe(404);
  });

  test('to the top level gives it an owner of its own if its owners were inherited', async () => {
    const top = await made('owner', fresh('heritage'));
    const inner = await made('owner', fresh('ownerless'), { parent_id: top.id });
    const self = `/groups/${inner.id}/members/${world.ids['owner']}`;
    expect((await as('owner', 'DELETE', self)).status).toBe(204);
    expect((await as('owner', 'GET', self)).status).toBe(404);
    expect((await as('owner', 'POST', `/groups/${inner.id}/transfer`, {})).status).toBe(201);
    expect(await as('owner', 'GET', self)).toMatchObject({ status: 200, body: { access_level: 50 } });
    expect((await as('owner', 'DELETE', self)).status).toBe(403);
  });

  test('into a less visible group lowers the visibility of its contents', async () => {
    const target = await made('owner', fresh('quiet'), { visibility: 'internal' });
    const open = await made('owner', fresh('open'), { visibility: 'public' });
    const inner = await made('owner', 'inner', { parent_id: open.id, visibility: 'public' });
    const secret = await made('owner', 'secret', { parent_id: open.id, visibility: 'private' });
    const project = (await put(inner, 'shown', { visibility: 'public', initialize_with_readme: true })).body;
    const hidden = (await put(inner, 'hidden', { visibility: 'private' })).body;
    const fork = (await as('stranger', 'POST', `/projects/${project.id}/fork`)).body;
    await vi.waitFor(
      async () => {
        const now = await as('stranger', 'GET', `/projects/${fork.id}`);
        expect(now.body.import_status).toBe('finished');
      },
      { timeout: 60_000 },
    );

    const moved = await as('owner', 'POST', `/groups/${open.id}/transfer`, { group_id: target.id });
    expect([moved.status, moved.body.visibility]).toEqual([201, 'internal']);
    const visibility = async (path: string) => (await as('owner', 'GET', path)).body.visibility;
    await expect.poll(() => visibility(`/projects/${project.id}`)).toBe('internal');
    await expect.poll(() => visibility(`/groups/${inner.id}`)).toBe('internal');
    expect(await visibility(`/groups/${secret.id}`)).toBe('private');
    expect(await visibility(`/projects/${hidden.id}`)).toBe('private');
    for (const path of [`/groups/${open.id}`, `/groups/${inner.id}`, `/projects/${project.id}`])
      expect([path, (await as('anonymous', 'GET', path)).status]).toEqual([path, 404]);
    expect((await as('stranger', 'GET', `/projects/${project.id}`)).status).toBe(200);
    const listed = await as('anonymous', 'GET', '/projects?search=shown');
    expect(listed.body.map(({ id }: { id: number }) => id)).not.toContain(project.id);
    // As wherever a project becomes less visible.
    await vi.waitFor(
      async () => {
        expect(
          (await as('stranger', 'GET', `/projects/${fork.id}`)).body.forked_from_project,
        ).toBeUndefined();
      },
      { timeout: 60_000 },
    );
    const raised = await as('owner', 'PUT', `/projects/${project.id}`, { visibility: 'public' });
    expect(raised.status).toBe(400);
  });

  test('is refused into itself or a descendant, to a taken path, or without the right', async () => {
    const group = await made('owner', fresh('top'));
    const inner = await made('owner', 'inner', { parent_id: group.id });
    const refusal = async (id: number, group_id: number) =>
      (await as('owner', 'POST', `/groups/${id}/transfer`, { group_id })).body.message;
    const own = 'Transfer failed: Cannot transfer group to one of its subgroup.';
    expect(await refusal(group.id, group.id)).toBe(own);
    expect(await refusal(group.id, inner.id)).toBe(own);
    const other = await made('owner', fresh('other'));
    await made('owner', 'inner', { parent_id: other.id });
    expect(await refusal(inner.id, other.id)).toContain('with the same path');
    const theirs = await made('stranger', fresh('theirs'), { visibility: 'public' });
    expect(await refusal(group.id, theirs.id)).toBe("Transfer failed: You don't have enough permissions.");
  });

  test('into each other at once succeeds for at most one of two groups', async () => {
    for (let n = 0; n < 3; n++) {
      const [a, b] = [await made('owner', fresh('a')), await made('owner', fresh('b'))];
      const both = await Promise.all([
        as('owner', 'POST', `/groups/${a.id}/transfer`, { group_id: b.id }),
        as('owner', 'POST', `/groups/${b.id}/transfer`, { group_id: a.id }),
      ]);
      expect(both.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
      for (const { status } of both) expect([201, 400, 409]).toContain(status);
    }
  });

  test('is refused deeper than twenty levels, counted with its descendants', async () => {
    let deep = await made('owner', fresh('deep'));
    for (let depth = 2; depth <= 19; depth++) deep = await made('owner', `d${depth}`, { parent_id: deep.id });
    const pair = await made('owner', fresh('pair'));
    await made('owner', 'in', { parent_id: pair.id });
    const refused = await as('owner', 'POST', `/groups/${pair.id}/transfer`, { group_id: deep.id });
    expect(refused.body.message).toBe('Transfer failed: Groups can be nested at most 20 levels deep.');
    const last = await made('owner', 'd20', { parent_id: deep.id });
    const tooDeep = await as('owner', 'POST', '/groups', { name: 'x', path: 'x', parent_id: last.id });
    expect(tooDeep.body.message).toContain('has too many parents');
    expect((await put(last, 'code')).status).toBe(201);
  });
});

test('a group share gives access up to its level until it expires, and notifies the invited members', async () => {
  const [group, guests] = [await made('owner', fresh('host')), await made('owner', fresh('guests'))];
  const project = (await put(await made('owner', 'in', { parent_id: group.id }), 'code')).body;
  await world.store.members.add({
    source: { kind: 'group', id: guests.id },
    userId: world.ids['stranger']!,
    accessLevel: 30,
    createdAt: new Date().toISOString(),
    expiresAt: null,
    createdById: null,
  });
  const share = (json: unknown) => as('owner', 'POST', `/groups/${group.id}/share`, json);
  const seen = async () => (await as('stranger', 'GET', `/projects/${project.id}`)).status;
  expect(await seen()).toBe(404);
  const input = { group_id: guests.id, group_access: 20 };
  expect((await share({ ...input, group_access: 15 })).body).toEqual({
    error: 'group_access does not have a valid value',
  });
  expect((await share({ group_id: guests.id })).body).toEqual({ error: 'group_access is missing' });
  expect((await share({ ...input, group_id: 999999 })).body).toEqual({ message: '404 Group Not Found' });
  expect((await share({ ...input, expires_at: '2020-01-01' })).status).toBe(400);
  expect((await share({ ...input, group_id: group.id })).status).toBe(400);
  const shared = await share({ ...input, expires_at: '2999-01-01' });
  const link = {
    group_id: guests.id,
    group_name: guests.name,
    group_full_path: guests.full_path,
    group_access_level: 20,
    expires_at: '2999-01-01',
  };
  expect(shared).toMatchObject({ status: 201, body: { shared_with_groups: [link] } });
  expect(await seen()).toBe(200);
  expect((await share(input)).status).toBe(409);
  // Both of two that invite at once are kept.
  const more = [await made('owner', fresh('guests')), await made('owner', fresh('guests'))];
  const both = await Promise.all(more.map(({ id }) => share({ group_id: id, group_access: 10 })));
  expect(both.map(({ status }) => status)).toEqual([201, 201]);
  const now = (await as('owner', 'GET', `/groups/${group.id}`)).body.shared_with_groups;
  expect(now.map((each: { group_id: number }) => each.group_id).sort()).toEqual(
    [guests.id, ...more.map(({ id }) => id)].sort(),
  );

  const bad = await as('owner', 'DELETE', `/groups/${group.id}/share/x`);
  expect(bad.body).toEqual({ error: 'group_id is invalid' });
  expect((await as('owner', 'DELETE', `/groups/${group.id}/share/${guests.id}`)).status).toBe(204);
  expect((await as('owner', 'DELETE', `/groups/${group.id}/share/${guests.id}`)).status).toBe(404);
  expect(await seen()).toBe(404);

  await as('owner', 'PUT', `/groups/${group.id}`, { prevent_sharing_groups_outside_hierarchy: true });
  expect((await share(input)).body).toEqual({ message: '404 Not Found' });
});

test('a fork moved into a group is no more visible than the group', async () => {
  const group = await made('owner', fresh('forks'));
  const source = world.ids['public']!;
  const fork = (who: Who, json: unknown) => as(who, 'POST', `/projects/${source}/fork`, json);
  expect((await fork('stranger', { namespace_id: group.id })).body.message).toBe('404 Namespace Not Found');
  expect((await fork('guest', { namespace: 'public-group' })).body.message).toBe(
    '404 Target Namespace Not Found',
  );
  const made1 = await fork('owner', { namespace_path: group.path });
  expect(made1).toMatchObject({
    status: 201,
    body: { visibility: 'private', namespace: { id: group.id, kind: 'group' } },
  });
  expect((await fork('owner', { namespace_id: group.id })).status).toBe(409);
});

test('a deleted group disappears at once with its contents, and all its paths are free', async () => {
  const group = await made('owner', fresh('doomed'));
  const inner = await made('owner', 'inner', { parent_id: group.id });
  const project = (await put(inner, 'code')).body;
  expect((await as('owner', 'DELETE', `/groups/${group.id}`)).status).toBe(202);
  for (const path of [
    `/groups/${group.id}`,
    `/groups/${inner.id}`,
    `/groups/${group.path}%2Finner`,
    `/projects/${project.id}`,
    `/projects/${group.path}%2Finner%2Fcode`,
  ])
    expect((await as('administrator', 'GET', path)).status, path).toBe(404);
  expect((await as('owner', 'DELETE', `/groups/${group.id}`)).status).toBe(404);
  const again = await made('owner', group.path);
  const innerAgain = await made('owner', 'inner', { parent_id: again.id });
  expect((await put(innerAgain, 'code')).status).toBe(201);
  // The worker takes away the rest.
  await expect.poll(() => world.store.projects.getEvenDeleted(project.id)).toBeUndefined();
  await expect.poll(() => world.store.groups.getEvenDeleted(group.id)).toBeUndefined();
  const left = () => world.store.members.get({ kind: 'group', id: inner.id }, world.ids['owner']!);
  await expect.poll(left).toBeUndefined();
  expect((await as('owner', 'GET', `/projects/${group.path}%2Finner%2Fcode`)).status).toBe(200);
});
