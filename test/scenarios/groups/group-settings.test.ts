/** Settings of groups that something obeys, and what they make of the groups and projects inside. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Answer } from '../../harness/service.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld({ background: false });

let count = 0;
async function group(more: Record<string, unknown> = {}): Promise<number> {
  const path = `settings-${++count}`;
  const made = await as('owner', 'POST', '/groups', { name: path, path, ...more });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  for (const [who, access_level] of Object.entries({ developer: 30, maintainer: 40 }))
    if (more['parent_id'] === undefined)
      await as('owner', 'POST', `/groups/${made.body.id}/members`, {
        user_id: world.ids[who],
        access_level,
      });
  return made.body.id;
}
const told = ({ status, body }: Answer) => [status, body];

describe('default_branch_protection', () => {
  const file = (who: Who, project: number, name: string, more: Record<string, unknown> = {}) =>
    as(who, 'POST', `/projects/${project}/repository/files/${name}`, {
      branch: 'main',
      content: name,
      commit_message: name,
      ...more,
    });
  const make = async (namespace: number, more: Record<string, unknown> = {}): Promise<number> =>
    (await as('owner', 'POST', '/projects', { name: `p${++count}`, namespace_id: namespace, ...more })).body
      .id;
  const rule = async (project: number) => {
    const [found] = (await as('owner', 'GET', `/projects/${project}/protected_branches`)).body;
    return found && [found.push_access_levels[0].access_level, found.merge_access_levels[0].access_level];
  };

  test.each([
    [0, undefined, 201],
    [1, [30, 40], 201],
    [2, [40, 40], 400],
    [3, [40, 30], 400],
    [undefined, [40, 40], 400],
  ])(
    '%s: the first branch gets %j, and a Developer’s first push is answered with %i',
    async (setting, levels, begins) => {
      const own = setting === undefined ? {} : { default_branch_protection: setting };
      const id = await group(own);
      const begun = await make(id);
      expect((await file('developer', begun, 'a')).status).toBe(begins);
      if (begins !== 201) expect((await file('maintainer', begun, 'a')).status).toBe(201);
      expect(await rule(begun)).toEqual(levels);
      expect((await file('developer', begun, 'b')).status).toBe(begins);
      // With a first commit of its own, the same; nobody forces where it is protected at all.
      const initialized = await make(id, { initialize_with_readme: true });
      expect(await rule(initialized)).toEqual(levels);
      const [branch] = (await as('owner', 'GET', `/projects/${begun}/repository/branches`)).body;
      expect(branch).toMatchObject({ protected: setting !== 0, developers_can_push: setting === 1 });
    },
  );

  test('applies from the direct parent group only', async () => {
    const outer = await group({ default_branch_protection: 0 });
    const inner = await group({ parent_id: outer });
    const project = await make(inner);
    expect((await file('developer', project, 'a')).status).toBe(400);
    expect((await as('owner', 'PUT', `/groups/${inner}`, { default_branch_protection: 1 })).status).toBe(200);
    expect((await file('developer', project, 'a')).status).toBe(201);
    expect(await rule(project)).toEqual([30, 40]);
  });
});

describe('creating in a group obeys its creation levels', () => {
  test.each([
    ['project_creation_level', 'noone', { developer: 400, maintainer: 400, owner: 400 }],
    ['project_creation_level', 'maintainer', { developer: 400, maintainer: 201, owner: 201 }],
    ['project_creation_level', 'developer', { developer: 201, maintainer: 201, owner: 201 }],
    ['subgroup_creation_level', 'owner', { developer: 403, maintainer: 403, owner: 201 }],
    ['subgroup_creation_level', 'maintainer', { developer: 403, maintainer: 201, owner: 201 }],
  ] as const)('for %s with %s', async (setting, level, expected) => {
    const id = await group({ [setting]: level });
    for (const [who, status] of Object.entries(expected) as [Who, number][]) {
      const name = `n${++count}`;
      const made =
        setting === 'project_creation_level'
          ? await as(who, 'POST', '/projects', { name, namespace_id: id })
          : await as(who, 'POST', '/groups', { name, path: name, parent_id: id });
      expect([who, made.status]).toEqual([who, status]);
    }
  });
});

test('shared runners disabled in a group stay disabled in its descendants', async () => {
  const outer = await group();
  const inner = await group({ parent_id: outer });
  const set = (id: number, shared_runners_setting: string) =>
    as('owner', 'PUT', `/groups/${id}`, { shared_runners_setting });
  expect(await set(outer, 'disabled_and_unoverridable')).toMatchObject({
    status: 200,
    body: { shared_runners_setting: 'disabled_and_unoverridable' },
  });
  expect(told(await set(inner, 'enabled'))).toEqual([
    400,
    {
      message: {
        shared_runners_enabled: ['cannot be enabled because parent group has shared Runners disabled'],
      },
    },
  ]);
  expect(told(await set(inner, 'disabled_with_override'))).toEqual([
    400,
    {
      message: {
        allow_descendants_override_disabled_shared_runners: [
          'cannot be enabled because parent group does not allow it',
        ],
      },
    },
  ]);
  expect((await set(inner, 'disabled_and_unoverridable')).status).toBe(200);
  expect((await set(outer, 'disabled_with_override')).status).toBe(200);
  expect((await set(inner, 'enabled')).status).toBe(200);
  expect(told(await set(outer, 'sometimes'))).toEqual([
    400,
    { error: 'shared_runners_setting does not have a valid value' },
  ]);
});

test('a group’s visibility is limited by its parent and by what it contains', async () => {
  const outer = await group({ visibility: 'internal' });
  const inner = await group({ visibility: 'internal', parent_id: outer });
  const change = (id: number, visibility: string) => as('owner', 'PUT', `/groups/${id}`, { visibility });
  const problem = (text: string) => [400, { message: { visibility_level: [text] } }];
  expect(told(await change(inner, 'public'))).toEqual(
    problem('public is not allowed since the parent group has a internal visibility.'),
  );
  expect(told(await change(outer, 'private'))).toEqual(
    problem('private is not allowed since there are sub-groups with higher visibility.'),
  );
  const name = `v${++count}`;
  await as('owner', 'POST', '/projects', { name, namespace_id: inner, visibility: 'internal' });
  expect(told(await change(inner, 'private'))).toEqual(
    problem('private is not allowed since this group contains projects with higher visibility.'),
  );
  expect((await change(outer, 'public')).body.visibility).toBe('public');
  expect((await change(inner, 'public')).body.visibility).toBe('public');
});

test('the runners token is for owners, stays the same, and is deleted with its group', async () => {
  const id = await group({ visibility: 'public' });
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => as('owner', 'GET', `/groups/${id}?with_projects=false`)),
  );
  const [token] = answers.map(({ body }) => body.runners_token);
  expect(token).toMatch(/^[\w-]{20}$/);
  expect(new Set(answers.map(({ body }) => body.runners_token))).toEqual(new Set([token]));
  expect((await as('owner', 'PUT', `/groups/${id}`, { description: 'x' })).body.runners_token).toBe(token);
  expect((await as('administrator', 'GET', `/groups/${id}`)).body.runners_token).toBe(token);
  for (const who of ['anonymous', 'stranger', 'developer', 'maintainer'] as const) {
    const answer = await as(who, 'GET', `/groups/${id}`);
    expect([who, answer.status]).toEqual([who, 200]);
    expect(JSON.stringify(answer.body)).not.toContain('runners_token');
  }
  expect(JSON.stringify((await as('owner', 'GET', '/groups')).body)).not.toContain('runners_token');
  expect((await as('owner', 'DELETE', `/groups/${id}`)).status).toBe(202);
  expect(await world.store.runnersTokens.of({ kind: 'group', id })).toBeUndefined();
  expect(await world.store.runnersTokens.give({ kind: 'group', id }, 'late')).toBeUndefined();
});
