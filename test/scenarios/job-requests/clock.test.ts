/** Jobs that end because nobody works on them: their runner is gone, or there is none. */
import { describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { checkPipeline } from '../../../lib/domain/pipelines/cancel.ts';
import type { JobRecord } from '../../../lib/records/pipelines.ts';
import { jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { report, sendTrace, smallRunner, type Taken } from '../../harness/small-runner.ts';

const all = ownWorld();
const { service, world, as } = all;

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const recordOf = async ({ id }: Taken) => (await world.store.jobs.get(id))!;
const given = async (job: Taken, change: Partial<JobRecord>) =>
  void (await world.store.jobs.change([{ job: await recordOf(job), change }], { advance: false }));
/** Sends what is to be looked at within so many minutes. */
async function wait(minutes: number): Promise<void> {
  await deps().store.outbox.sweep(new Date(Date.now() + minutes * 60_000), 0, 16_000);
  await settled();
}

describe('a job whose runner has died', () => {
  test('ends when the time is over that its runner was told', async () => {
    const made = await jobProject(all, 'late', 'a: { script: [x], timeout: 20 minutes }');
    const job = await made.take();
    expect(job['runner_info'].timeout).toBe(1200);
    const { startedAt, runsUntil, pipelineId } = await recordOf(job);
    expect(Date.parse(runsUntil!) - Date.parse(startedAt!)).toBe(1_200_000);
    await wait(19);
    expect(await recordOf(job)).toMatchObject({ status: 'running' });
    await given(job, { runsUntil: ago(1), updatedAt: ago(21) });
    await wait(21);
    const { body } = await as('owner', 'GET', `/projects/${made.id}/jobs/${job.id}`);
    expect(body).toMatchObject({ status: 'failed', failure_reason: 'job_execution_timeout' });
    const pipeline = await as('owner', 'GET', `/projects/${made.id}/pipelines/${pipelineId}`);
    expect(pipeline.body.status).toBe('failed');
    const told = await report(service, job, 'running');
    expect([told.status, told.headers.get('job-status')]).toEqual([403, 'failed']);
  });

  test('ends when it has been silent for an hour, long before its time', async () => {
    const made = await jobProject(all, 'silent', 'a: { script: [x], timeout: 10 hours }');
    const job = await made.take();
    await given(job, { updatedAt: ago(61) });
    await wait(60);
    expect(await recordOf(job)).toMatchObject({
      status: 'failed',
      failureReason: 'stuck_or_timeout_failure',
    });
  });
});

test('a job goes on that has just been looked at, and is looked at again', async () => {
  const made = await jobProject(all, 'again', 'a: { script: [x], timeout: 10 hours }');
  const job = await made.take();
  await wait(61);
  expect(await recordOf(job)).toMatchObject({ status: 'running' });
  await given(job, { updatedAt: ago(61) });
  await wait(61);
  expect(await recordOf(job)).toMatchObject({ status: 'failed' });
});

test.each([
  ['says that it goes on', (job: Taken) => report(service, job, 'running')],
  ['prints something', (job: Taken) => sendTrace(service, job, 0, 'x')],
  ['repeats a piece', (job: Taken) => sendTrace(service, job, 100, 'x')],
])('a runner is heard of when its job %s, and is online', async (_, speaks) => {
  const made = await jobProject(all, `heard ${_}`, 'a: { script: [x] }');
  const job = await made.take();
  await given(job, { updatedAt: ago(50) });
  const runner = (await world.store.runners.get(made.runner.id))!;
  await world.store.runners.contacted(runner, { ipAddress: runner.ipAddress }, new Date(ago(200)));
  await speaks(job);
  const { updatedAt } = await recordOf(job);
  expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(ago(1)));
  expect((await as('owner', 'GET', `/runners/${made.runner.id}`)).body).toMatchObject({ online: true });
});

test('a job that waits for an hour ends where no runner is there that takes it', async () => {
  const config =
    'common: { script: [x] }\nrare: { script: [x], tags: [rare] }\npaused: { script: [x], tags: [p] }';
  const made = await jobProject(all, 'stuck', config);
  const { runners_token } = (await as('owner', 'GET', `/projects/${made.id}`)).body;
  await smallRunner(service, runners_token, { tag_list: 'p', run_untagged: false, paused: true });
  // It has asked.
  const taken = await made.take();
  expect(taken['job_info'].name).toBe('common');
  await world.store.jobs.change(
    [{ job: await recordOf(taken), change: { status: 'pending', runnerId: null, startedAt: null } }],
    { advance: false },
  );
  const { pipelineId } = await recordOf(taken);
  const check = () => checkPipeline(deps(), { projectId: made.id, pipelineId });
  const waitedFor = async (minutes: number) => {
    const jobs = await world.store.jobs.all(pipelineId);
    const changes = jobs.map((job) => ({ job, change: { queuedAt: ago(minutes) } }));
    await world.store.jobs.change(changes, { advance: false });
    await check();
    const { body } = await as('owner', 'GET', `/projects/${made.id}/pipelines/${pipelineId}/jobs`);
    return Object.fromEntries(body.map((job: Record<string, string>) => [job['name'], job['status']]));
  };
  expect(await waitedFor(59)).toEqual({ common: 'pending', rare: 'pending', paused: 'pending' });
  expect(await waitedFor(61)).toEqual({ common: 'pending', rare: 'failed', paused: 'failed' });
  const jobs = await world.store.jobs.all(pipelineId);
  expect(jobs.map(({ failureReason }) => failureReason)).toEqual([
    null,
    'stuck_or_timeout_failure',
    'stuck_or_timeout_failure',
  ]);
  expect(await waitedFor(24 * 60 + 1)).toMatchObject({ common: 'failed' });
});
