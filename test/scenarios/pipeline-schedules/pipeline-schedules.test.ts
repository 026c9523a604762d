import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { depsWithSecrets } from '../../../functions/deps-with-secrets.ts';
import { makeScheduled } from '../../../lib/domain/pipeline-schedules/make.ts';
import { runDue } from '../../../lib/domain/pipeline-schedules/runs.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

const done = async (who: Who, method: string, path: string, json?: unknown): Promise<Answer['body']> => {
  const answer = await as(who, method, path, json);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const CONFIG = 'hello:\n  script: echo\n';
let project: number;
let at: string;
beforeAll(async () => {
  project = world.ids['private']!;
  at = `/projects/${project}/pipeline_schedules`;
  await done('owner', 'POST', `/projects/${project}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add a configuration',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIG }],
  });
  await settled();
});
const nightly = { description: 'nightly', ref: 'main', cron: '0 1 * * *' };
const make = (json: object = {}, who: Who = 'developer') => done(who, 'POST', at, { ...nightly, ...json });
const pipelinesOf = async (source: string) =>
  (await deps().store.pipelines.newestOfRef(project, 'main', 50)).filter(
    (pipeline) => pipeline.source === source,
  );
const scheduleOf = async (id: number) => (await deps().store.pipelineSchedules.get(project, id))!;

describe('a schedule', () => {
  test('is told as it was created, with its next time in its time zone', async () => {
    const made = await make({ cron_timezone: 'Asia/Tokyo' });
    expect(made).toMatchObject({
      description: 'nightly',
      ref: 'main',
      cron: '0 1 * * *',
      cron_timezone: 'Asia/Tokyo',
      active: true,
      owner: { username: 'developer' },
      last_pipeline: null,
      variables: [],
    });
    expect(made.next_run_at).toMatch(/T16:00:00\.000Z$/);
    expect((await as('developer', 'GET', `${at}/${made.id}`)).body).toEqual(made);
    const { variables: _v, last_pipeline: _l, ...listed } = made;
    expect((await as('reporter', 'GET', at)).body).toContainEqual(listed);
    expect((await as('reporter', 'GET', `${at}/${made.id}`)).body).not.toHaveProperty('variables');
  });

  test.each([
    [{ cron: 'never' }, { message: { cron: [' is invalid syntax'] } }],
    [{ cron: '0 0 30 2 *' }, { message: { cron: [' is invalid syntax'] } }],
    [{ cron_timezone: 'Moon' }, { message: { cron_timezone: [' is invalid syntax'] } }],
    [{ ref: '' }, { message: { ref: ["can't be blank"] } }],
    [{ description: ' ' }, { message: { description: ["can't be blank"] } }],
    [{ active: 'maybe' }, { error: 'active is invalid' }],
  ])('is refused with %j', async (json, body) => {
    expect(await as('developer', 'POST', at, { ...nightly, ...json })).toMatchObject({ status: 400, body });
    const { id } = await make();
    expect(await as('developer', 'PUT', `${at}/${id}`, json)).toMatchObject({ status: 400, body });
  });

  test('needs what it is, when and for what', async () => {
    const { body } = await as('developer', 'POST', at, {});
    expect(body).toEqual({ error: 'description is missing, ref is missing, cron is missing' });
  });

  test('is listed as active or inactive', async () => {
    const { id } = await make({ active: false });
    const idsOf = async (scope: string) =>
      (await as('reporter', 'GET', `${at}?scope=${scope}&per_page=100`)).body.map(
        (each: { id: number }) => each.id,
      );
    expect(await idsOf('inactive')).toContain(id);
    expect(await idsOf('active')).not.toContain(id);
    expect((await as('reporter', 'GET', `${at}?scope=other`)).status).toBe(400);
  });

  test('is changed and deleted by its owner and by Maintainers alone', async () => {
    const { id } = await make({}, 'maintainer');
    for (const [method, rest, json] of [
      ['PUT', '', { description: 'x' }],
      ['POST', '/take_ownership', undefined],
      ['POST', '/variables', { key: 'A', value: 'b' }],
      ['DELETE', '', undefined],
    ] as const)
      expect((await as('developer', method, `${at}/${id}${rest}`, json)).status, `${method} ${rest}`).toBe(
        403,
      );
    expect((await as('owner', 'PUT', `${at}/${id}`, { description: 'changed' })).body.description).toBe(
      'changed',
    );
    const { id: own } = await make();
    expect((await as('developer', 'DELETE', `${at}/${own}`)).status).toBe(204);
    expect((await as('owner', 'DELETE', `${at}/${id}`)).status).toBe(204);
    const { status, body } = await as('owner', 'GET', `${at}/${id}`);
    expect({ status, body }).toEqual({ status: 404, body: { message: '404 Pipeline Schedule Not Found' } });
  });

  test('is taken by a Maintainer who is not its owner', async () => {
    const { id } = await make();
    const taken = await as('maintainer', 'POST', `${at}/${id}/take_ownership`);
    expect(taken).toMatchObject({ status: 201, body: { owner: { username: 'maintainer' } } });
    expect((await as('maintainer', 'POST', `${at}/${id}/take_ownership`)).status).toBe(403);
    expect((await as('developer', 'PUT', `${at}/${id}`, { ref: 'x' })).status).toBe(403);
  });

  test('has another next time when its times change, and not otherwise', async () => {
    const made = await make();
    const renamed = await done('developer', 'PUT', `${at}/${made.id}`, { description: 'x' });
    expect(renamed.next_run_at).toBe(made.next_run_at);
    const moved = await done('developer', 'PUT', `${at}/${made.id}`, { cron: '30 2 * * *' });
    expect(moved.next_run_at).toMatch(/T02:30:00/);
    const zoned = await done('developer', 'PUT', `${at}/${made.id}`, { cron_timezone: 'Asia/Tokyo' });
    expect(zoned.next_run_at).toMatch(/T17:30:00/);
  });
});

describe('variables of a schedule', () => {
  test('are created, changed and deleted, and told to its owner', async () => {
    const { id } = await make();
    const variables = `${at}/${id}/variables`;
    const first = await as('developer', 'POST', variables, { key: 'KEY', value: 'one' });
    const plain = { variable_type: 'env_var', key: 'KEY', value: 'one' };
    expect(first).toMatchObject({ status: 201, body: plain });
    const taken = await as('developer', 'POST', variables, { key: 'KEY', value: 'two' });
    expect(taken).toMatchObject({
      status: 400,
      body: { message: { key: ['has already been taken'] } },
    });
    expect((await as('developer', 'GET', `${at}/${id}`)).body.variables).toEqual([plain]);
    const changed = { variable_type: 'file', key: 'KEY', value: 'two' };
    const put = await as('developer', 'PUT', `${variables}/KEY`, { value: 'two', variable_type: 'file' });
    expect(put).toMatchObject({ status: 200, body: changed });
    const deleted = await as('developer', 'DELETE', `${variables}/KEY`);
    expect(deleted).toMatchObject({ status: 202, body: changed });
    const gone = await as('developer', 'DELETE', `${variables}/KEY`);
    expect(gone).toMatchObject({
      status: 404,
      body: { message: '404 Pipeline Schedule Variable Not Found' },
    });
  });

  test('are deleted with it', async () => {
    const { id } = await make();
    for (const key of ['A', 'B'])
      await done('developer', 'POST', `${at}/${id}/variables`, { key, value: 'x' });
    expect((await as('developer', 'DELETE', `${at}/${id}`)).status).toBe(204);
    const left = await deps().store.ciVariables.of(depsWithSecrets().secrets, { kind: 'schedule', id });
    expect(left).toEqual([]);
  });
});

describe('when its time has come', () => {
  test('a schedule makes one pipeline, with the rights of its owner, and knows its next time', async () => {
    const { id } = await make({ cron: '*/10 * * * *' }, 'maintainer');
    await done('maintainer', 'POST', `${at}/${id}/variables`, { key: 'GIVEN', value: 'by the schedule' });
    const before = await pipelinesOf('schedule');
    const schedule = await scheduleOf(id);
    // The message comes twice.
    await Promise.all([1, 2].map(() => runDue(depsWithSecrets(), project, id, schedule.nextRunAt)));
    await settled();
    const now = await pipelinesOf('schedule');
    const made = now.slice(0, now.length - before.length);
    expect(made).toHaveLength(1);
    const [pipeline] = made;
    expect(pipeline).toMatchObject({ ref: 'main', source: 'schedule' });
    expect(await deps().store.jobs.variables(pipeline!.id)).toContainEqual({
      key: 'GIVEN',
      value: 'by the schedule',
      type: 'env_var',
    });
    const after = await scheduleOf(id);
    expect(Date.parse(after.nextRunAt)).toBe(Date.parse(schedule.nextRunAt) + 600_000);
    expect(after.lastPipelineId).toBe(pipeline!.id);
    expect((await as('developer', 'GET', `${at}/${id}`)).body.last_pipeline).toMatchObject({
      id: pipeline!.id,
      ref: 'main',
    });
  });

  test('one that was changed, deactivated or deleted makes none', async () => {
    const changed = await make({ cron: '5 3 * * *' }, 'maintainer');
    await done('maintainer', 'PUT', `${at}/${changed.id}`, { cron: '6 3 * * *' });
    const off = await make({ cron: '7 3 * * *' }, 'maintainer');
    await done('maintainer', 'PUT', `${at}/${off.id}`, { active: false });
    const gone = await make({ cron: '8 3 * * *' }, 'maintainer');
    await as('maintainer', 'DELETE', `${at}/${gone.id}`);
    const before = await pipelinesOf('schedule');
    for (const { id, next_run_at } of [changed, off, gone])
      await runDue(depsWithSecrets(), project, id, next_run_at);
    await settled();
    expect(await pipelinesOf('schedule')).toHaveLength(before.length);
  });

  test('one whose owner is blocked is deactivated', async () => {
    const made = await make();
    const { store } = deps();
    const schedule = await scheduleOf(made.id);
    await store.pipelineSchedules.change(schedule, { ownerId: world.ids['blocked']! }, new Date());
    await runDue(depsWithSecrets(), project, made.id, schedule.nextRunAt);
    expect(await scheduleOf(made.id)).toMatchObject({ active: false, lastPipelineId: null });
  });

  test('a message that comes again finds its pipeline', async () => {
    const { id } = await make({}, 'maintainer');
    const body = {
      projectId: project,
      scheduleId: id,
      userId: world.ids['maintainer']!,
      baseUrl: 'http://x',
    };
    await makeScheduled(depsWithSecrets(), body, 'message-1');
    const before = await pipelinesOf('schedule');
    expect(before.some(({ madeBy }) => madeBy === 'message-1')).toBe(true);
    await makeScheduled(depsWithSecrets(), body, 'message-1');
    expect(await pipelinesOf('schedule')).toHaveLength(before.length);
  });
});

test('a schedule is played with the rights of the caller, where they may update its branch', async () => {
  const { id } = await make({}, 'maintainer');
  const guarded = await as('developer', 'POST', `${at}/${id}/play`);
  expect(guarded.status).toBe(403);
  const before = await pipelinesOf('schedule');
  const played = await as('maintainer', 'POST', `${at}/${id}/play`);
  expect(played).toMatchObject({ status: 201, body: { message: '201 Created' } });
  await settled();
  expect(await pipelinesOf('schedule')).toHaveLength(before.length + 1);
});

test('schedules are deleted with their project, and their variables', async () => {
  const { id } = await done('owner', 'POST', '/projects', { name: 'scheduled' });
  const schedule = await done('owner', 'POST', `/projects/${id}/pipeline_schedules`, nightly);
  await done('owner', 'POST', `/projects/${id}/pipeline_schedules/${schedule.id}/variables`, {
    key: 'A',
    value: 'b',
  });
  await as('owner', 'DELETE', `/projects/${id}`);
  await settled();
  expect(await deps().store.pipelineSchedules.of(id)).toEqual([]);
  const owner = { kind: 'schedule', id: schedule.id } as const;
  expect(await deps().store.ciVariables.of(depsWithSecrets().secrets, owner)).toEqual([]);
});
