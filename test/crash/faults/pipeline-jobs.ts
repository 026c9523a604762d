import { deps } from '../../../functions/deps.ts';
import { STOP_ENVIRONMENT_JOB } from '../../../lib/store/environments/environments.ts';
import {
  ADVANCE_PIPELINE_JOB,
  CHECK_JOB_JOB,
  CHECK_PIPELINE_JOB,
  CREATE_FOR_MERGE_REQUEST_JOB,
  CREATE_PIPELINES_JOB,
  REMOVE_PIPELINE_JOB,
} from '../../../lib/store/pipelines/pipelines.ts';
import type { Operation, Told } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { configured, current, jobsOf, piped, proposed } from './pipeline-endpoints.ts';
import { after, countOf } from './sent.ts';

const DEPLOYING = `
one:
  script: x
  environment:
    name: live
    on_stop: two
    auto_stop_in: 1 hour
two:
  script: y
  when: manual
  environment:
    name: live
    action: stop
`;

/** What workers do with pipelines and jobs. A message that comes again has the id that it had. */
export const pipelineJobs: readonly Operation[] = [
  {
    name: 'job: a push gets its pipeline',
    async prepare(fixtures) {
      const { id: projectId, owner, branch } = await configured(fixtures);
      const { pipelines } = fixtures.store;
      const commits = await fixtures.done('GET', `/projects/${projectId}/repository/commits/${branch}`, {
        token: owner.token,
      });
      const refs = [{ name: `refs/heads/${branch}`, from: '0'.repeat(40), to: commits.id }];
      const body = { projectId, refs, actorId: owner.id, baseUrl: 'http://localhost' };
      const before = (await pipelines.newestOfRef(projectId, branch, 10)).length;
      const state = async () => {
        const found = await pipelines.newestOfRef(projectId, branch, 10);
        return countOf(found.slice(0, found.length - before));
      };
      return { run: again(fixtures, CREATE_PIPELINES_JOB, body), state };
    },
  },
  {
    name: 'job: a merge request gets its pipeline',
    async prepare(fixtures) {
      const { id: projectId, iid, ownerId: actorId, found } = await proposed(fixtures);
      const body = { projectId, iid, actorId, baseUrl: 'http://localhost' };
      const state = async () => countOf(await found());
      return { run: again(fixtures, CREATE_FOR_MERGE_REQUEST_JOB, body), state };
    },
  },
  {
    name: 'job: a job goes on after those before it, and its deployment begins',
    async prepare(fixtures) {
      const content = 'one:\n  stage: build\n  script: x\ntwo:\n  script: y\n  environment: live\n';
      const { id: projectId, pipelineId, job } = await piped(fixtures, content);
      const { jobs } = deps().store;
      const runner = { runnerId: 1, tokenHash: fixtures.fresh('hash') };
      const taken = await jobs.take(await current(job), runner, new Date());
      await jobs.finish(taken, { status: 'success' }, new Date());
      const state = async () => {
        const two = (await jobsOf(pipelineId)).find(({ name }) => name === 'two')!;
        return two.deployment === undefined ? 'before' : 'after';
      };
      return { run: again(fixtures, ADVANCE_PIPELINE_JOB, { projectId, pipelineId }), state };
    },
  },
  {
    name: 'job: a job that no runner took for a day ends',
    async prepare(fixtures) {
      const { id: projectId, pipelineId, job } = await piped(fixtures);
      const old = await current(job);
      const change = { queuedAt: '2020-01-01T00:00:00.000Z' };
      await deps().store.jobs.change([{ job: old, change }], { advance: false });
      const state = async () => after((await current(job)).status, 'pending', 'failed');
      return { run: again(fixtures, CHECK_PIPELINE_JOB, { projectId, pipelineId }), state };
    },
  },
  {
    name: 'job: a job whose runner is gone ends',
    async prepare(fixtures) {
      const { pipelineId, job } = await piped(fixtures);
      const { jobs } = deps().store;
      const holder = { runnerId: 1, tokenHash: fixtures.fresh('hash') };
      await jobs.take(await current(job), holder, new Date('2020-01-01T00:00:00.000Z'));
      const state = async () => after((await current(job)).status, 'running', 'failed');
      return { run: again(fixtures, CHECK_JOB_JOB, { pipelineId, jobId: job.id }), state };
    },
  },
  {
    name: 'job: what belonged to a deleted pipeline is deleted',
    async prepare(fixtures) {
      const { id: projectId, owner, pipelineId, job } = await piped(fixtures);
      const path = `/projects/${projectId}/pipelines/${pipelineId}`;
      await fixtures.done('DELETE', path, { token: owner.token });
      const body = { projectId, pipelineId, sha: job.sha };
      const state = async () => ((await jobsOf(pipelineId)).length === 0 ? 'after' : 'before');
      return { run: again(fixtures, REMOVE_PIPELINE_JOB, body), state };
    },
  },
  {
    name: 'job: an environment is stopped when its time has come, and its stop job starts',
    async prepare(fixtures) {
      const { id: projectId, pipelineId, job } = await piped(fixtures, DEPLOYING);
      const { jobs, environments } = deps().store;
      const runner = { runnerId: 1, tokenHash: fixtures.fresh('hash') };
      const taken = await jobs.take(await current(job), runner, new Date());
      await jobs.finish(taken, { status: 'success' }, new Date());
      const { advancePipeline } = await import('../../../lib/domain/pipelines/advance-pipeline.ts');
      await advancePipeline(deps(), { projectId, pipelineId });
      const live = (await environments.named(projectId, 'live'))!;
      const due = { autoStopAt: '2020-01-01T00:00:00.000Z' };
      await environments.change(live, due, new Date());
      const state = async () => {
        const { state: is } = (await environments.get(projectId, live.id))!;
        const two = (await jobsOf(pipelineId)).find(({ name }) => name === 'two')!;
        return after(`${is} ${two.status}`, 'available manual', 'stopped pending');
      };
      const body = { projectId, environmentId: live.id };
      return { run: again(fixtures, STOP_ENVIRONMENT_JOB, body), state };
    },
  },
];

function again(fixtures: Fixtures, type: string, body: object): () => Promise<Told> {
  const id = fixtures.fresh('message');
  const message = { MessageId: id, Body: JSON.stringify({ id, type, body }) };
  return () => fixtures.attempt('maintenance', message);
}
