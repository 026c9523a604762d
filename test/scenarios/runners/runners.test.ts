/** Runners: how they register, who sees and changes them, and where they take jobs. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { tokenHash } from '../../../lib/domain/access/token-check.ts';
import { runnerJobKey } from '../../../lib/store/row-keys/jobs.ts';
import { jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';

const own = ownWorld();
const { service, world, as, root } = own;
afterEach(() => vi.useRealTimers());

let names = 0;
const group = async (parent?: number): Promise<{ id: number; token: string }> => {
  const path = `runners-${++names}`;
  const json = { name: path, path, ...(parent === undefined ? {} : { parent_id: parent }) };
  const { id } = (await as('owner', 'POST', '/groups', json)).body;
  return { id, token: (await as('owner', 'GET', `/groups/${id}`)).body.runners_token };
};
const project = async (namespace?: number): Promise<{ id: number; token: string }> => {
  const json = {
    name: `runners ${++names}`,
    ...(namespace === undefined ? {} : { namespace_id: namespace }),
  };
  const { id } = (await as('owner', 'POST', '/projects', json)).body;
  return { id, token: (await as('owner', 'GET', `/projects/${id}`)).body.runners_token };
};
const instanceToken = async () =>
  (await root('GET', '/application/settings')).body.runners_registration_token as string;
const register = async (token: string, more: Record<string, unknown> = {}) => {
  const answer = await as('anonymous', 'POST', '/runners', { token, ...more });
  expect(answer).toMatchObject({ status: 201, body: { id: expect.any(Number), token: expect.any(String) } });
  return answer.body as { id: number; token: string };
};
const idsOf = (answer: { body: { id: number }[] }) => answer.body.map(({ id }) => id);

describe('registration', () => {
  test('a runner gets a token of its own, which the store holds as a digest only', async () => {
    const place = await project();
    const info = { name: 'gitlab-runner', version: '14.4.0', platform: 'linux', architecture: 'amd64', x: 1 };
    const { id, token } = await register(place.token, {
      description: 'fast',
      info,
      tag_list: 'b, a,b, ',
      locked: true,
      access_level: 'ref_protected',
      run_untagged: false,
      maximum_timeout: 1200,
    });
    expect(token).toMatch(/^[\w-]{20}$/);
    const stored = await world.store.runners.get(id);
    expect(stored?.hash).toBe(tokenHash(token));
    expect(JSON.stringify(stored)).not.toContain(token);
    const { status, body } = await as('owner', 'GET', `/runners/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      description: 'fast',
      ip_address: expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/),
      active: true,
      paused: false,
      is_shared: false,
      runner_type: 'project_type',
      name: 'gitlab-runner',
      online: false,
      status: 'not_connected',
      tag_list: ['b', 'a'],
      run_untagged: false,
      locked: true,
      maximum_timeout: 1200,
      access_level: 'ref_protected',
      version: '14.4.0',
      revision: null,
      platform: 'linux',
      architecture: 'amd64',
      contacted_at: null,
      projects: [expect.objectContaining({ id: place.id })],
      groups: [],
    });
  });

  test('a runner may send its token as that of a user too, as gitlab-runner does', async () => {
    const place = await project();
    const asRunner = (method: string, path: string, token: string) =>
      service.call(method, path, { json: { token }, headers: { 'PRIVATE-TOKEN': token } });
    const registered = await asRunner('POST', '/runners', place.token);
    expect(registered.status).toBe(201);
    const { token } = registered.body;
    expect((await asRunner('POST', '/runners/verify', token)).status).toBe(200);
    expect((await asRunner('POST', '/jobs/request', token)).status).toBe(204);
    expect((await asRunner('DELETE', '/runners', token)).status).toBe(204);
  });

  test.each([
    ['instance', 'instance_type', true],
    ['group', 'group_type', false],
    ['project', 'project_type', false],
  ] as const)('the token of a %s registers a runner of the type %s', async (kind, type, shared) => {
    const token =
      kind === 'instance'
        ? await instanceToken()
        : kind === 'group'
          ? (await group()).token
          : (await project()).token;
    const { id } = await register(token, { paused: true });
    expect((await root('GET', `/runners/${id}`)).body).toMatchObject({
      runner_type: type,
      is_shared: shared,
      active: false,
      paused: true,
    });
  });

  test.each([
    [{}, 400, { error: 'token is missing, token is empty' }],
    [{ token: '' }, 400, { error: 'token is empty' }],
    [{ token: 'x'.repeat(10_000) }, 403, { message: '403 Forbidden' }],
    [{ token: '$', active: true, paused: true }, 400, { error: 'active, paused are mutually exclusive' }],
    [{ token: '$', access_level: 'all' }, 400, { error: 'access_level does not have a valid value' }],
    [
      { token: '$', run_untagged: false },
      400,
      {
        message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
      },
    ],
    [
      { token: '$', tag_list: Array.from({ length: 51 }, (_, n) => `t${n}`) },
      400,
      { message: { tags_list: ['Too many tags specified. Please limit the number of tags to 50'] } },
    ],
    [
      { token: '$', maximum_timeout: 599 },
      400,
      { message: { maximum_timeout: ['needs to be at least 10 minutes'] } },
    ],
    [
      { token: '$', description: 'd'.repeat(1025) },
      400,
      { message: { description: ['is too long (maximum is 1024 characters)'] } },
    ],
  ])('%j is refused with %i', async (json, status, body) => {
    const sent = {
      ...json,
      ...('token' in json && json.token === '$' ? { token: (await project()).token } : {}),
    };
    expect(await as('anonymous', 'POST', '/runners', sent)).toMatchObject({ status, body });
  });

  test('a runner checks its token, and deletes itself', async () => {
    const { id, token } = await register((await project()).token);
    for (const [method, path] of [
      ['POST', '/runners/verify'],
      ['DELETE', '/runners'],
    ] as const) {
      expect((await as('anonymous', method, path, { token: 'other' })).status).toBe(403);
      expect((await as('anonymous', method, path)).status).toBe(400);
    }
    expect(await as('anonymous', 'POST', '/runners/verify', { token })).toMatchObject({
      status: 200,
      body: 200,
    });
    expect((await as('anonymous', 'DELETE', '/runners', { token })).status).toBe(204);
    expect((await root('GET', `/runners/${id}`)).body).toEqual({ message: '404 Runner Not Found' });
    for (const [method, path] of [
      ['POST', '/runners/verify'],
      ['DELETE', '/runners'],
    ] as const)
      expect((await as('anonymous', method, path, { token })).status).toBe(403);
  });

  test('a registration token that was replaced registers nothing; runners keep their own', async () => {
    const [inGroup, inProject] = [await group(), await project()];
    for (const [who, path, read] of [
      ['owner', `/groups/${inGroup.id}/runners/reset_registration_token`, `/groups/${inGroup.id}`],
      ['owner', `/projects/${inProject.id}/runners/reset_registration_token`, `/projects/${inProject.id}`],
      ['administrator', '/runners/reset_registration_token', '/application/settings'],
    ] as const) {
      const shown = async () => {
        const { body } = await as(who, 'GET', read);
        return (body.runners_token ?? body.runners_registration_token) as string;
      };
      const old = await shown();
      const { token } = await register(old);
      const answers = await Promise.all([as(who, 'POST', path), as(who, 'POST', path)]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      const now = await shown();
      expect(answers.map(({ body }) => body.token)).toContain(now);
      expect((await as('anonymous', 'POST', '/runners', { token: old })).status).toBe(403);
      for (const { body } of answers)
        expect((await as('anonymous', 'POST', '/runners', { token: body.token })).status).toBe(
          body.token === now ? 201 : 403,
        );
      expect((await as('anonymous', 'POST', '/runners/verify', { token })).status).toBe(200);
    }
  });

  test('runners register only for the kinds of places that the setting names', async () => {
    const [inGroup, inProject] = [await group(), await project()];
    try {
      await changeSettings(service, { valid_runner_registrars: ['group'] });
      expect((await as('anonymous', 'POST', '/runners', { token: inProject.token })).status).toBe(403);
      await register(inGroup.token);
      await register(await instanceToken());
    } finally {
      await changeSettings(service, { valid_runner_registrars: ['project', 'group'] });
    }
    await register(inProject.token);
  });

  test('the token of a project is for Maintainers, and only of a single project', async () => {
    const { private: id } = world.ids;
    const token = (await as('maintainer', 'GET', `/projects/${id}`)).body.runners_token;
    expect(token).toMatch(/^[\w-]{20}$/);
    expect((await as('owner', 'GET', `/projects/${id}`)).body.runners_token).toBe(token);
    for (const who of ['guest', 'reporter', 'developer'] as const) {
      const answer = await as(who, 'GET', `/projects/${id}`);
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toContain('runners_token');
    }
    expect(JSON.stringify((await as('owner', 'GET', '/projects')).body)).not.toContain('runners_token');
  });
});

describe('lists', () => {
  let outer: Awaited<ReturnType<typeof group>>;
  let inner: Awaited<ReturnType<typeof group>>;
  let code: Awaited<ReturnType<typeof project>>;
  const ids: Record<string, number> = {};
  beforeAll(async () => {
    outer = await group();
    inner = await group(outer.id);
    code = await project(inner.id);
    ids['shared'] = (await register(await instanceToken(), { tag_list: 'a' })).id;
    ids['outer'] = (await register(outer.token, { paused: true })).id;
    ids['inner'] = (await register(inner.token, { tag_list: 'a,b' })).id;
    ids['code'] = (await register(code.token)).id;
  });

  const listed = async (who: 'owner' | 'administrator', path: string) => {
    const answer = await as(who, 'GET', path);
    expect(answer.status).toBe(200);
    const known = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    return idsOf(answer).flatMap((id) => known.get(id) ?? []);
  };

  test('a project has its own runners, those of all groups above, and those of the instance', async () => {
    expect(await listed('owner', `/projects/${code.id}/runners?per_page=100`)).toEqual(
      expect.arrayContaining(['shared', 'outer', 'inner', 'code']),
    );
    expect(await listed('owner', `/projects/${code.id}/runners?type=group_type`)).toEqual(['outer', 'inner']);
    expect(await listed('owner', `/projects/${code.id}/runners?scope=specific`)).toEqual(['code']);
  });

  test('a project without shared runners has none of the instance', async () => {
    const apart = await project(inner.id);
    await as('owner', 'PUT', `/projects/${apart.id}`, { shared_runners_enabled: false });
    expect(await listed('owner', `/projects/${apart.id}/runners?per_page=100`)).toEqual(['outer', 'inner']);
    expect(await listed('owner', `/projects/${apart.id}/runners?type=instance_type`)).toEqual([]);
  });

  test('a group has its own runners, those above and those of the instance, but none below', async () => {
    expect(await listed('owner', `/groups/${outer.id}/runners?type=group_type`)).toEqual(['outer']);
    expect(await listed('owner', `/groups/${inner.id}/runners?type=group_type`)).toEqual(['outer', 'inner']);
    expect(await listed('owner', `/groups/${inner.id}/runners?type=instance_type&per_page=100`)).toEqual([
      'shared',
    ]);
  });

  test.each([
    ['status=paused', ['outer']],
    ['paused=true', ['outer']],
    ['scope=paused', ['outer']],
    ['status=active&type=group_type', ['inner']],
    ['paused=false&type=group_type', ['inner']],
    ['tag_list=a', ['shared', 'inner']],
    ['tag_list=a,b', ['inner']],
    ['tag_list[]=b&tag_list[]=a', ['inner']],
    ['status=online', []],
    ['status=offline', []],
    ['status=stale', []],
    ['status=never_contacted&type=project_type', ['code']],
    ['status=not_connected&type=project_type', ['code']],
  ])('%s', async (query, expected) => {
    expect(await listed('administrator', `/runners/all?per_page=100&${query}`)).toEqual(expected);
    expect(await listed('owner', `/projects/${code.id}/runners?per_page=100&${query}`)).toEqual(expected);
  });

  test.each(['type=x', 'status=x', 'scope=shared', 'paused=x'])('%s is refused', async (query) => {
    expect((await as('owner', 'GET', `/runners?${query}`)).status).toBe(400);
  });

  test('people list the runners of projects that they maintain and groups that they own', async () => {
    expect(await listed('owner', '/runners?per_page=100')).toEqual(['outer', 'inner', 'code']);
    expect(await listed('owner', '/runners?per_page=100&type=project_type')).toEqual(['code']);
    expect(await listed('administrator', '/runners?per_page=100')).toEqual([]);
    expect((await as('stranger', 'GET', '/runners')).body).toEqual([]);
  });

  test('all runners of the instance are listed in pages, by id', async () => {
    const all = await root('GET', '/runners/all?per_page=100');
    const expected = idsOf(all);
    expect(expected).toEqual(expected.toSorted((a, b) => a - b));
    expect(all.headers.get('x-total')).toBe(String(expected.length));
    const second = await root('GET', '/runners/all?per_page=2&page=2');
    expect(idsOf(second)).toEqual(expected.slice(2, 4));
  });

  test('a runner is online for two hours after it asked', async () => {
    const runner = (await world.store.runners.get(ids['inner']!))!;
    await world.store.runners.contacted(runner, { version: '15', ipAddress: '10.0.0.1' }, new Date());
    const read = async () => (await as('owner', 'GET', `/runners/${runner.id}`)).body;
    expect(await read()).toMatchObject({
      online: true,
      status: 'online',
      version: '15',
      ip_address: '10.0.0.1',
      contacted_at: expect.any(String),
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
    expect(await read()).toMatchObject({ online: false, status: 'offline' });
    expect(await listed('administrator', '/runners/all?status=offline')).toEqual(['inner']);
  });
});

describe('one runner', () => {
  test('those who do not own it may not see or change it; everybody may see one of the instance', async () => {
    const { id } = await register(
      (await as('maintainer', 'GET', `/projects/${world.ids['private']}`)).body.runners_token,
    );
    for (const who of ['stranger', 'guest', 'developer'] as const)
      for (const [method, json] of [['GET'], ['PUT', { paused: true }], ['DELETE']] as const)
        expect([who, method, (await as(who, method, `/runners/${id}`, json)).status]).toEqual([
          who,
          method,
          403,
        ]);
    expect((await as('maintainer', 'GET', `/runners/${id}`)).status).toBe(200);
    const shared = await register(await instanceToken());
    expect((await as('stranger', 'GET', `/runners/${shared.id}`)).status).toBe(200);
    expect((await as('stranger', 'PUT', `/runners/${shared.id}`, { paused: true })).body).toEqual({
      message: '403 Forbidden - No access granted',
    });
    expect((await as('stranger', 'DELETE', `/runners/${shared.id}`)).status).toBe(403);
    expect((await root('DELETE', `/runners/${shared.id}`)).status).toBe(204);
  });

  test('every attribute can be changed, and nothing else changes', async () => {
    const { id } = await register((await project()).token, { description: 'one', tag_list: 'a' });
    const path = `/runners/${id}`;
    const before = (await as('owner', 'GET', path)).body;
    for (const [json, shown] of [
      [{ description: 'two' }, { description: 'two' }],
      [{ active: false }, { active: false, paused: true, status: 'not_connected' }],
      [{ paused: false }, { active: true, paused: false }],
      [{ tag_list: ['c', 'b'] }, { tag_list: ['c', 'b'] }],
      [{ run_untagged: false }, { run_untagged: false }],
      [{ locked: true }, { locked: true }],
      [{ access_level: 'ref_protected' }, { access_level: 'ref_protected' }],
      [{ maximum_timeout: 700 }, { maximum_timeout: 700 }],
      [{ maximum_timeout: null }, { maximum_timeout: null }],
    ] as const) {
      const answer = await as('owner', 'PUT', path, json);
      expect(answer).toMatchObject({ status: 200, body: shown });
      Object.assign(before, shown);
      expect(answer.body).toEqual(before);
    }
    expect(await as('owner', 'PUT', path, {})).toMatchObject({ status: 400 });
    expect(await as('owner', 'PUT', path, { tag_list: [] })).toMatchObject({
      status: 400,
      body: { message: { tags_list: expect.any(Array) } },
    });
    expect(await as('owner', 'PUT', path, { active: true, paused: true })).toMatchObject({ status: 400 });
    expect(await as('owner', 'PUT', '/runners/x', { paused: true })).toMatchObject({
      status: 400,
      body: { error: 'id is invalid' },
    });
  });

  test('of two changes at once none is lost', async () => {
    const { id } = await register((await project()).token);
    const statuses = await Promise.all(
      [{ description: 'x' }, { paused: true }, { locked: true }].map(
        async (json) => [json, (await as('owner', 'PUT', `/runners/${id}`, json)).status] as const,
      ),
    );
    const { body } = await as('owner', 'GET', `/runners/${id}`);
    for (const [json, status] of statuses) {
      expect([200, 409]).toContain(status);
      if (status === 200) expect(body).toMatchObject(json);
    }
  });
});

describe('runners of several projects', () => {
  test('one is enabled in and disabled from further projects, and keeps one', async () => {
    const [first, second] = [await project(), await project()];
    const { id } = await register(first.token);
    const path = `/projects/${second.id}/runners`;
    expect(await as('owner', 'POST', path, { runner_id: id })).toMatchObject({
      status: 201,
      body: { id, runner_type: 'project_type' },
    });
    expect(await as('owner', 'POST', path, { runner_id: id })).toMatchObject({
      status: 400,
      body: { message: { runner: ['has already been taken'] } },
    });
    expect(idsOf(await as('owner', 'GET', `${path}?type=project_type`))).toEqual([id]);
    expect(
      (await as('owner', 'GET', `/runners/${id}`)).body.projects.map((each: { id: number }) => each.id),
    ).toEqual([first.id, second.id]);
    expect(await as('owner', 'DELETE', `/runners/${id}`)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden - Runner associated with more than one project' },
    });
    expect((await as('owner', 'DELETE', `/projects/${first.id}/runners/${id}`)).status).toBe(204);
    expect(await as('owner', 'DELETE', `/projects/${first.id}/runners/${id}`)).toMatchObject({ status: 404 });
    expect(await as('owner', 'DELETE', `${path}/${id}`)).toMatchObject({
      status: 403,
      body: {
        message:
          '403 Forbidden - Only one project associated with the runner. Please remove the runner instead',
      },
    });
    expect((await as('owner', 'DELETE', `/runners/${id}`)).status).toBe(204);
  });

  test('not one of a group or of the instance, no locked one, and none of others', async () => {
    const place = await project();
    const enable = (who: 'owner' | 'maintainer' | 'administrator', id: number, projectId = place.id) =>
      as(who, 'POST', `/projects/${projectId}/runners`, { runner_id: id });
    const ofGroup = await register((await group()).token);
    const shared = await register(await instanceToken());
    for (const { id } of [ofGroup, shared]) expect((await enable('administrator', id)).status).toBe(403);
    const locked = await register((await project()).token, { locked: true });
    expect((await enable('owner', locked.id)).body).toEqual({ message: '403 Forbidden - Runner is locked' });
    expect((await enable('administrator', locked.id)).status).toBe(201);
    const foreign = await register((await project()).token);
    expect((await enable('maintainer', foreign.id, world.ids['public'])).body).toEqual({
      message: '403 Forbidden - No access granted',
    });
    expect((await enable('owner', 999_999)).body).toEqual({ message: '404 Runner Not Found' });
  });
});

describe('deletion', () => {
  test('the runners of a project or group go with it, those of other projects too stay', async () => {
    const outer = await group();
    const [first, second] = [await project(outer.id), await project()];
    const [ofGroup, own, both] = [
      await register(outer.token),
      await register(first.token),
      await register(first.token),
    ];
    await as('owner', 'POST', `/projects/${second.id}/runners`, { runner_id: both.id });
    expect((await as('owner', 'DELETE', `/groups/${outer.id}`)).status).toBe(202);
    expect((await as('anonymous', 'POST', '/runners', { token: first.token })).status).toBe(403);
    await settled();
    for (const [{ token }, status] of [
      [ofGroup, 403],
      [own, 403],
      [both, 200],
    ] as const)
      expect((await as('anonymous', 'POST', '/runners/verify', { token })).status).toBe(status);
    for (const token of [outer.token, first.token])
      expect((await as('anonymous', 'POST', '/runners', { token })).status).toBe(403);
    expect(
      (await root('GET', `/runners/${both.id}`)).body.projects.map((each: { id: number }) => each.id),
    ).toEqual([second.id]);
  });
});

describe('the jobs of a runner', () => {
  const taken = async (name: string, more: Record<string, unknown> = {}) => {
    const made = await jobProject(
      own,
      name,
      'a: { script: [x] }\nb: { script: [x] }\nc: { script: [x] }',
      more,
    );
    const jobs = [await made.take(), await made.take()];
    await made.end(jobs[0]!, 'failed');
    return { ...made, jobs: jobs.map(({ id }) => id), path: `/runners/${made.runner.id}/jobs` };
  };

  test('are those that it has taken, in both orders and by status', async () => {
    const { id, path, jobs } = await taken('takes');
    const [first, second] = jobs;
    const list = (query = '') => as('owner', 'GET', `${path}${query}`);
    const { status, body } = await list();
    expect([status, idsOf({ body })]).toEqual([200, [second, first]]);
    expect(body[1]).toMatchObject({
      status: 'failed',
      name: 'a',
      user: { username: 'owner' },
      pipeline: { status: 'running' },
      project: { id, name: 'takes' },
    });
    expect(idsOf(await list('?order_by=id&sort=asc'))).toEqual([first, second]);
    expect(idsOf(await list('?status=running'))).toEqual([second]);
    expect(idsOf(await list('?status=success'))).toEqual([]);
    expect(idsOf(await list('?per_page=1&page=2'))).toEqual([first]);
    for (const query of ['?status=odd', '?order_by=name', '?sort=up'])
      expect((await list(query)).body.error).toMatch(/does not have a valid value/);
  });

  test('are shown to those who own it, and of projects that they may read', async () => {
    const made = await taken('first of two');
    const other = (await as('developer', 'POST', '/projects', { name: 'second of two' })).body.id;
    await as('owner', 'POST', `/projects/${made.id}/members`, {
      user_id: world.ids['developer'],
      access_level: 40,
    });
    expect(
      (await as('developer', 'POST', `/projects/${other}/runners`, { runner_id: made.runner.id })).status,
    ).toBe(201);
    expect(idsOf(await as('developer', 'GET', made.path))).toHaveLength(2);
    await as('owner', 'DELETE', `/projects/${made.id}/members/${world.ids['developer']}`);
    // Still a Maintainer of a project in which it is enabled.
    const left = await as('developer', 'GET', made.path);
    expect([left.status, left.body]).toEqual([200, []]);
    expect((await as('stranger', 'GET', made.path)).status).toBe(403);
    expect((await as('anonymous', 'GET', made.path)).status).toBe(401);
    expect((await as('owner', 'GET', '/runners/99999999/jobs')).status).toBe(404);
    expect(idsOf(await root('GET', made.path))).toHaveLength(2);
  });

  test('go with their pipeline', async () => {
    const made = await taken('deleted');
    const { pipelineId } = (await world.store.jobs.get(made.jobs[0]!))!;
    expect((await as('owner', 'DELETE', `/projects/${made.id}/pipelines/${pipelineId}`)).status).toBe(204);
    await settled();
    expect((await as('owner', 'GET', made.path)).body).toEqual([]);
    const rows = await world.store.table.query({ partition: runnerJobKey(made.runner.id, 1).pk });
    expect(rows.items).toEqual([]);
  });
});
