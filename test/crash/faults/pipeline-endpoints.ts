import { deps } from '../../../functions/deps.ts';
import type { JobRecord } from '../../../lib/records/pipelines.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, countOf, endpoint } from './sent.ts';

const PIPELINE = '/projects/:id/pipelines/:pipeline_id';
const JOB = '/projects/:id/jobs/:job_id';

/** Writes of pipelines and jobs. */
export const pipelineWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/pipeline', async (fixtures) => {
    const { id, owner, branch } = await configured(fixtures);
    const path = `/projects/${id}/pipeline`;
    const state = async () => {
      const made = await deps().store.pipelines.newestOfRef(id, branch, 10);
      return countOf(made.filter(({ source }) => source === 'api'));
    };
    return { path, token: owner.token, json: { ref: branch }, state };
  }),
  endpoint('POST /projects/:id/merge_requests/:merge_request_iid/pipelines', async (fixtures) => {
    const { id, token, iid, found } = await proposed(fixtures);
    const path = `/projects/${id}/merge_requests/${iid}/pipelines`;
    return { path, token, state: async () => countOf(await found()) };
  }),
  endpoint(`POST ${PIPELINE}/cancel`, async (fixtures) => {
    const { id, owner, pipelineId, job } = await piped(fixtures);
    // The manual one has not begun, and stays.
    const state = async () => after((await current(job)).status, 'pending', 'canceled');
    return { path: `/projects/${id}/pipelines/${pipelineId}/cancel`, token: owner.token, state };
  }),
  endpoint(`POST ${PIPELINE}/retry`, async (fixtures) => {
    const { id, owner, pipelineId } = await piped(fixtures);
    const path = `/projects/${id}/pipelines/${pipelineId}`;
    await fixtures.done('POST', `${path}/cancel`, { token: owner.token });
    const state = async () =>
      (await jobsOf(pipelineId)).some(({ retried }) => retried) ? 'after' : 'before';
    return { path: `${path}/retry`, token: owner.token, state };
  }),
  endpoint(`DELETE ${PIPELINE}`, async (fixtures) => {
    const { id, owner, branch, pipelineId } = await piped(fixtures);
    const state = async () => {
      const left = await deps().store.pipelines.newestOfRef(id, branch, 10);
      return left.some((each) => each.id === pipelineId) ? 'before' : 'after';
    };
    return { path: `/projects/${id}/pipelines/${pipelineId}`, token: owner.token, state };
  }),
  endpoint(`POST ${JOB}/cancel`, async (fixtures) => {
    const { id, owner, job } = await piped(fixtures);
    const state = async () => ((await current(job)).status === 'canceled' ? 'after' : 'before');
    return { path: `/projects/${id}/jobs/${job.id}/cancel`, token: owner.token, state };
  }),
  endpoint(`POST ${JOB}/retry`, async (fixtures) => {
    const { id, owner, job } = await piped(fixtures);
    await deps().store.jobs.finish(await current(job), { status: 'failed' }, new Date());
    const state = async () => after((await current(job)).retried, false, true);
    return { path: `/projects/${id}/jobs/${job.id}/retry`, token: owner.token, state };
  }),
  endpoint(`POST ${JOB}/erase`, async (fixtures) => {
    const { id, owner, job } = await piped(fixtures);
    const { jobs } = deps().store;
    const runner = { runnerId: 1, tokenHash: fixtures.fresh('hash') };
    await jobs.finish(
      await jobs.take(await current(job), runner, new Date()),
      { status: 'success' },
      new Date(),
    );
    const state = async () => ((await current(job)).erasedAt === null ? 'before' : 'after');
    return { path: `/projects/${id}/jobs/${job.id}/erase`, token: owner.token, state };
  }),
  endpoint(`POST ${JOB}/play`, async (fixtures) => {
    const { id, owner, pipelineId } = await piped(fixtures);
    const manual = (await jobsOf(pipelineId)).find(({ when }) => when === 'manual')!;
    const state = async () => after((await current(manual)).status, 'manual', 'pending');
    return { path: `/projects/${id}/jobs/${manual.id}/play`, token: owner.token, state };
  }),
];

const CONTENT = 'one:\n  script: x\ntwo:\n  script: y\n  when: manual\n';

/** A branch of the ground with a configuration of two jobs, without a pipeline. */
export async function configured(fixtures: Fixtures, content = CONTENT) {
  const ground = await fixtures.ownGround();
  const branch = fixtures.fresh('piped');
  const { token } = ground.owner;
  await fixtures.done('POST', `/projects/${ground.id}/repository/commits`, {
    token,
    json: {
      branch,
      start_branch: 'main',
      commit_message: 'jobs',
      actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content }],
    },
  });
  return { ...ground, branch };
}

/** A merge request with jobs of its own, without a pipeline. */
export async function proposed(fixtures: Fixtures) {
  const { id, owner, branch } = await configured(fixtures, 'one:\n  script: x\n  only: [merge_requests]\n');
  const { token, id: ownerId } = owner;
  const { iid } = await fixtures.done('POST', `/projects/${id}/merge_requests`, {
    token,
    json: { source_branch: branch, target_branch: 'main', title: 'with jobs' },
  });
  const found = () => deps().store.pipelines.newestOfRef(id, `refs/merge-requests/${iid}/head`, 10);
  return { id, token, ownerId, iid: iid as number, found };
}

/** A pipeline whose jobs wait. */
export async function piped(fixtures: Fixtures, content = CONTENT) {
  const ground = await configured(fixtures, content);
  const { id, owner, branch } = ground;
  const made = await fixtures.done('POST', `/projects/${id}/pipeline`, {
    token: owner.token,
    json: { ref: branch },
  });
  const { advancePipeline } = await import('../../../lib/domain/pipelines/advance-pipeline.ts');
  await advancePipeline(deps(), { projectId: id, pipelineId: made.id });
  const job = (await jobsOf(made.id)).find(({ name }) => name === 'one')!;
  return { ...ground, pipelineId: made.id as number, job };
}

export const jobsOf = (pipelineId: number): Promise<JobRecord[]> => deps().store.jobs.all(pipelineId);
export const current = async ({ pipelineId, id }: JobRecord): Promise<JobRecord> =>
  (await deps().store.jobs.ofPipeline(pipelineId, id))!;
