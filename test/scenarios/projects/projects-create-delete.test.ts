import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Answer } from '../../harness/service.ts';
import type { Who } from '../../harness/world.ts';

const { as, service, world } = ownWorld();

const hides = ['secret of', 'thing', 'owner/'];

describe('creating a project', () => {
  const fresh = (
    (n) => () =>
      `made-${++n}`
  )(0);
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects',
        json: () => ({ name: fresh() }),
        as: {
          anonymous: 401,
          stranger: 201,
          external: {
            status: 403,
            holds: { message: [expect.stringMatching(/^Your project limit is 0 projects!/)] },
          },
          administrator: 201,
          ...BAD,
          read_api: 403,
          read_user: 403,
          write_repository: 403,
        },
        holds: (_, who) => ({
          visibility: 'private',
          empty_repo: true,
          default_branch: null,
          import_status: 'none',
          owner: { username: who === 'administrator' ? 'root' : who },
          permissions: { project_access: { access_level: 40 } },
        }),
      },
      {
        request: 'POST /projects/user/{stranger}',
        json: () => ({ name: fresh() }),
        as: { anonymous: 401, stranger: 403, owner: 403, administrator: 201, ...BAD, read_api: 403 },
      },
      {
        request: 'POST /projects/user/999999',
        json: () => ({ name: fresh() }),
        as: { owner: 403, administrator: { status: 404, holds: { message: '404 User Not Found' } } },
      },
      {
        request: 'POST /projects/user/none',
        json: {},
        as: { owner: { status: 404, holds: { error: '404 Not Found' } } },
      },
    ],
  );

  test('for a user makes that user the creator, and the administrator no member', async () => {
    const made = await as('administrator', 'POST', `/projects/user/${world.ids['stranger']}`, {
      name: 'theirs',
    });
    expect(made.body).toMatchObject({
      creator_id: world.ids['stranger'],
      path_with_namespace: 'stranger/theirs',
    });
    const members = await as('stranger', 'GET', `/projects/${made.body.id}/members`);
    expect(members.body.map((m: { username: string }) => m.username)).toEqual(['stranger']);
    expect((await as('owner', 'GET', `/projects/${made.body.id}`)).status).toBe(404);
  });

  test.each(
    [
      [{}, { error: 'name, path are missing, at least one parameter must be provided' }],
      [{ name: '' }, { message: { name: ["can't be blank"], path: ["can't be blank"] } }],
      [
        { name: 'internal thing' },
        { message: { name: ['has already been taken'], path: ['has already been taken'] } },
      ],
      [{ path: 'Internal-Thing' }, { message: { path: ['has already been taken'] } }],
      [
        { name: 'x'.repeat(256), path: 'x' },
        { message: { name: ['is too long (maximum is 255 characters)'] } },
      ],
      [
        { name: 'ok', path: 'x'.repeat(256) },
        { message: { path: ['is too long (maximum is 255 characters)'] } },
      ],
      [
        { name: 'a', description: 'x'.repeat(2001) },
        { message: { description: ['is too long (maximum is 2000 characters)'] } },
      ],
      [{ name: '<b>' }, { message: { name: [expect.stringContaining('can contain only')] } }],
      [{ name: 'a', path: 'a/b' }, { message: { path: [expect.stringContaining('can contain only')] } }],
      [{ name: 'a', path: '..' }, { message: { path: [expect.stringContaining('can contain only')] } }],
      [{ name: 'a', path: 'a.git' }, { message: { path: [expect.stringContaining('can contain only')] } }],
      [{ name: 'a', path: 'TREE' }, { message: { path: ['TREE is a reserved name'] } }],
      [{ name: 'a', visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
      [
        { name: 'a', issues_access_level: 'some' },
        { error: 'issues_access_level does not have a valid value' },
      ],
      [{ name: 'a', default_branch: 'no..branch' }, { message: { default_branch: [expect.any(String)] } }],
      // It reads as the id of a commit.
      [
        { name: 'a', default_branch: 'a1'.repeat(20) },
        { message: { default_branch: ['is not a valid branch name'] } },
      ],
      [
        { name: 'a', default_branch: 'x'.repeat(2000) },
        { message: { default_branch: [expect.any(String)] } },
      ],
      [
        { name: 'a', issues_template: 'x'.repeat(500_000) },
        { error: 'issues_template is too long (maximum is 20000 characters)' },
      ],
      [{ name: 'a', namespace_id: 1 }, { message: { namespace: ['is not valid'] } }],
      [{ name: 'a', namespace_id: 987654 }, { message: { namespace: ['is not valid'] } }],
      [{ name: 'a', namespace_id: 'x' }, { error: 'namespace_id is invalid' }],
      [
        { name: 'a', template_name: 'rails' },
        { message: { template_name: ["'rails' is unknown or invalid"] } },
      ],
      [
        { name: 'a', template_name: 'rails', import_url: 'https://x.example/a.git' },
        { error: 'import_url, template_name are mutually exclusive' },
      ],
      [{ name: 'a', build_timeout: 1 }, { error: 'build_timeout does not have a valid value' }],
      [{ name: { a: 1 } }, { error: 'name is invalid' }],
      [{ name: 'a\u0000b' }, { error: expect.any(String) }],
      [
        { name: 'a', topics: Array.from({ length: 101 }, (_, i) => `t${i}`) },
        { message: { topics: [expect.any(String)] } },
      ],
    ].map(([json, body]) => [shown(json), json, body] as const),
  )('with %s is refused', async (_, json, body) => {
    const answer = await as('owner', 'POST', '/projects', json);
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test('with a taken name fails alike whether or not the caller can see the other project', async () => {
    const refusal = await as('administrator', 'POST', `/projects/user/${world.ids['owner']}`, {
      name: 'private thing',
    });
    expect([refusal.status, refusal.body.message.path]).toEqual([400, ['has already been taken']]);
  });

  test('returns the settings as given', async () => {
    const given = {
      name: 'Ünïcode Näme 🚀',
      description: 'what it is',
      visibility: 'public',
      topics: ['a', 'b', 'a', ' '],
      issues_access_level: 'private',
      wiki_enabled: false,
      merge_method: 'ff',
      build_timeout: 700,
      ci_config_path: null,
      container_expiration_policy_attributes: { cadence: '1d', keep_n: 5, enabled: true },
    };
    const { status, body } = await as('owner', 'POST', '/projects', given);
    expect([status, body]).toMatchObject([
      201,
      {
        name: given.name,
        path: 'unicode-name',
        name_with_namespace: `owner / ${given.name}`,
        description: 'what it is',
        topics: ['a', 'b'],
        tag_list: ['a', 'b'],
        issues_enabled: true,
        issues_access_level: 'private',
        wiki_enabled: false,
        wiki_access_level: 'disabled',
        merge_method: 'ff',
        build_timeout: 700,
        http_url_to_repo: `${service.url}/owner/unicode-name.git`,
      },
    ]);
    // The token with which runners register is made when it is first asked for.
    expect((await as('owner', 'GET', `/projects/${body.id}`)).body).toEqual({
      ...body,
      runners_token: expect.any(String),
    });
    await as('owner', 'DELETE', `/projects/${body.id}`);
  });

  test('respects the project limit', async () => {
    const limited = await service.user('limited', { projects_limit: 2 });
    const asked = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        service.call('POST', '/projects', { token: limited.token, json: { name: `p${n}` } }),
      ),
    );
    expect(asked.map((answer) => answer.status).sort()).toEqual([201, 201, 403, 403]);
    expect(asked.find((answer) => answer.status === 403)!.body).toEqual({
      message: ['Your project limit is 2 projects! Please contact your administrator to increase it'],
    });
    const id = asked.find((answer) => answer.status === 201)!.body.id;
    await service.call('DELETE', `/projects/${id}`, { token: limited.token });
    const again = await service.call('POST', '/projects', { token: limited.token, json: { name: 'p5' } });
    expect(again.status).toBe(201);
  });

  test('at one path succeeds for one of eight simultaneous requests', async () => {
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        as('owner', 'POST', '/projects', { path: n % 2 ? 'Race' : 'race' }),
      ),
    );
    expect(asked.map((answer) => answer.status).sort()).toEqual([201, ...Array<number>(7).fill(400)]);
    const found = await as('owner', 'GET', '/projects?owned=true&search=race');
    expect(found.body.length).toBeLessThanOrEqual(1);
    expect((await as('owner', 'GET', '/projects/owner%2Frace')).status).toBe(200);
  });
});

describe('deleting a project', () => {
  const DELETED: Partial<Record<Who, number>> = {
    anonymous: 401,
    stranger: 404,
    external: 404,
    former: 404,
    guest: 403,
    reporter: 403,
    developer: 403,
    maintainer: 403,
    ...BAD,
    read_api: 403,
    write_repository: 403,
  };
  scenarios(
    () => world,
    [
      { request: 'DELETE /projects/{private}', as: DELETED, hides },
      { request: 'DELETE /projects/{public}', as: { ...DELETED, stranger: 403, external: 403, former: 403 } },
      { request: 'DELETE /projects/999999', as: { anonymous: 401, owner: 404, administrator: 404 } },
    ],
  );

  test.each(['owner', 'administrator'] as const)('by %s removes it at once for everybody', async (who) => {
    const made = await as('owner', 'POST', '/projects', { name: 'short lived', visibility: 'public' });
    const { id } = made.body;
    const gone = await as(who, 'DELETE', `/projects/${id}`);
    expect([gone.status, gone.body]).toEqual([202, { message: '202 Accepted' }]);
    for (const who of ['anonymous', 'owner', 'administrator'] as const) {
      for (const path of [`/projects/${id}`, '/projects/owner%2Fshort-lived', `/projects/${id}/members`]) {
        const status = who === 'anonymous' && path.endsWith('members') ? 401 : 404;
        expect([who, path, (await as(who, 'GET', path)).status]).toEqual([who, path, status]);
      }
      const list = await as(who, 'GET', '/projects?per_page=100');
      expect(list.body.map((p: { id: number }) => p.id)).not.toContain(id);
    }
    expect((await as('owner', 'DELETE', `/projects/${id}`)).status).toBe(404);
    // The name is free again.
    const again = await as('owner', 'POST', '/projects', { name: 'short lived' });
    expect(again.status).toBe(201);
    await as('owner', 'DELETE', `/projects/${again.body.id}`);
  });

  test('removes it from its members’ lists at once and from their totals soon', async () => {
    const { body } = await as('owner', 'POST', '/projects', { name: 'left behind' });
    await as('owner', 'POST', `/projects/${body.id}/members`, {
      user_id: world.ids['stranger'],
      access_level: 30,
    });
    const list = () => as('stranger', 'GET', '/projects?membership=true&order_by=name');
    const ids = (answer: Answer) => answer.body.map((project: { id: number }) => project.id);
    const before = await list();
    expect(ids(before)).toContain(body.id);
    await as('owner', 'DELETE', `/projects/${body.id}`);
    expect(ids(await list())).not.toContain(body.id);
    const expected = String(Number(before.headers.get('x-total')) - 1);
    await expect.poll(async () => (await list()).headers.get('x-total')).toBe(expected);
  });

  test('respects If-Unmodified-Since', async () => {
    const { body } = await as('owner', 'POST', '/projects', { name: 'kept' });
    const call = (when: string) =>
      service.call('DELETE', `/projects/${body.id}`, {
        token: world.tokens.owner!,
        headers: { 'If-Unmodified-Since': when },
      });
    const before = await call(new Date(Date.now() - 3_600_000).toUTCString());
    expect([before.status, before.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    expect((await as('owner', 'GET', `/projects/${body.id}`)).status).toBe(200);
    expect((await call('whenever')).status).toBe(202);
  });
});

const shown = (json: unknown) => JSON.stringify(json).slice(0, 70);
