import { projectScope } from '../../../lib/domain/jobs/scopes.ts';
import { readContent } from '../../../lib/http/content.ts';
import { sendTrace } from '../../harness/small-runner.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, answered, countOf, endpoint, flip, found, toldBy } from './sent.ts';

const ALL = '/runners/all?per_page=100&type=project_type';

/** Writes of runners and of their registration tokens. */
export const runnerWrites: readonly Operation[] = [
  endpoint('POST /runners', async (fixtures) => {
    const { token } = await place(fixtures);
    const description = fixtures.fresh('runner');
    const state = async () => {
      const runners: { description: string }[] = await fixtures.done('GET', ALL, {
        token: fixtures.service.rootToken,
      });
      return countOf(runners.filter((one) => one.description === description));
    };
    const json = { token, description, tag_list: 'fast,large' };
    return { path: '/runners', token: fixtures.service.rootToken, json, state };
  }),
  endpoint('DELETE /runners', async (fixtures) => {
    const { id, token } = await registered(fixtures);
    const root = fixtures.service.rootToken;
    const state = async () => flip(await found(fixtures, `/runners/${id}`, root));
    return { path: '/runners', token: root, json: { token }, state };
  }),
  endpoint('PUT /runners/:id', async (fixtures) => {
    const { id, owner } = await registered(fixtures);
    const path = `/runners/${id}`;
    const state = async () => {
      const { paused, tag_list } = await fixtures.done('GET', path, { token: owner });
      return after(`${paused} ${tag_list}`, 'false ', 'true fast');
    };
    return { path, token: owner, json: { paused: true, tag_list: ['fast'] }, state };
  }),
  endpoint('DELETE /runners/:id', async (fixtures) => {
    const { id, owner } = await registered(fixtures);
    const path = `/runners/${id}`;
    return { path, token: owner, state: async () => flip(await found(fixtures, path, owner)) };
  }),
  endpoint('POST /projects/:id/runners', async (fixtures) => {
    const { id } = await registered(fixtures);
    const { base } = await place(fixtures);
    const path = `${base}/runners`;
    const token = fixtures.service.rootToken;
    return { path, token, json: { runner_id: id }, state: () => listed(fixtures, path, id) };
  }),
  endpoint('DELETE /projects/:id/runners/:runner_id', async (fixtures) => {
    const { id } = await registered(fixtures);
    const path = `${(await place(fixtures)).base}/runners`;
    const token = fixtures.service.rootToken;
    await fixtures.done('POST', path, { token, json: { runner_id: id } });
    const state = async () => flip(await listed(fixtures, path, id));
    return { path: `${path}/${id}`, token, state };
  }),
  endpoint('POST /runners/reset_registration_token', async (fixtures) => {
    const root = fixtures.service.rootToken;
    const { runners_registration_token: old } = await fixtures.done('GET', '/application/settings', {
      token: root,
    });
    return { path: '/runners/reset_registration_token', token: root, state: () => refused(fixtures, old) };
  }),
  endpoint('POST /projects/:id/runners/reset_registration_token', async (fixtures) => {
    const { base, token, owner } = await place(fixtures);
    const path = `${base}/runners/reset_registration_token`;
    return { path, token: owner, state: () => refused(fixtures, token) };
  }),
  endpoint('POST /groups/:id/runners/reset_registration_token', async (fixtures) => {
    const { token } = await fixtures.owner();
    const path = fixtures.fresh('group');
    const group = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
    const { runners_token: old } = await fixtures.done('GET', `/groups/${group.id}`, { token });
    const url = `/groups/${group.id}/runners/reset_registration_token`;
    return { path: url, token, state: () => refused(fixtures, old) };
  }),
];

/** Writes of runners about the jobs that they run. */
export const jobRequestWrites: readonly Operation[] = [
  endpoint('POST /jobs/request', async (fixtures) => {
    const { id, token, jobId } = await waiting(fixtures);
    const state = async () => {
      const job = await fixtures.store.jobs.get(jobId);
      return after(`${job?.status} ${job?.runnerId}`, 'pending null', `running ${id}`);
    };
    return { path: '/jobs/request', token: fixtures.service.rootToken, json: { token }, state };
  }),
  endpoint('PUT /jobs/:id', async (fixtures) => {
    const { job } = await taken(fixtures);
    const json = { token: job.token, state: 'success' };
    const state = async () =>
      after((await fixtures.store.jobs.get(job.id))!.status as string, 'running', 'success');
    return { path: `/jobs/${job.id}`, token: fixtures.service.rootToken, json, state };
  }),
  {
    name: 'PATCH /jobs/:id/trace',
    records: true,
    async prepare(fixtures) {
      const { job, projectId } = await taken(fixtures);
      await sendTrace(fixtures.service, job, 0, 'one');
      const read = () => fixtures.store.jobTraces.read({ projectId, id: job.id });
      return {
        run: async () => {
          const answer = await sendTrace(fixtures.service, job, 3, ' two');
          const body = await answer.json();
          // A piece whose answer was lost is there: the runner goes on behind it.
          if (answer.status === 416 && answer.headers.get('range') === '0-7') return { kind: 'done' };
          return toldBy({ status: answer.status, body, headers: answer.headers } as Parameters<
            typeof toldBy
          >[0]);
        },
        state: async () => after(Buffer.from(await readContent(read())).toString(), 'one', 'one two'),
      };
    },
  },
];

/** A runner of a project with one job that waits. */
async function waiting(fixtures: Fixtures) {
  const runner = await registered(fixtures);
  const path = `/projects/${runner.projectId}/repository/commits`;
  const content = 'job: { script: [x] }';
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
  const json = { branch: 'main', commit_message: 'Configure', actions };
  await fixtures.done('POST', path, { token: runner.owner, json });
  await fixtures.settle();
  const [job] = await fixtures.store.jobs.waiting(projectScope(runner.projectId), 2);
  return { ...runner, jobId: job!.id };
}

/** A job of a new project that a runner has taken. */
export async function taken(fixtures: Fixtures) {
  const runner = await waiting(fixtures);
  const job = await fixtures.done('POST', '/jobs/request', { json: { token: runner.token } });
  return { ...runner, job: job as { id: number; token: string } };
}

/** A new project: its runners' registration token. */
async function place(
  fixtures: Fixtures,
): Promise<{ base: string; token: string; owner: string; projectId: number }> {
  const { id, owner } = await fixtures.ownGround();
  const base = `/projects/${id}`;
  const { runners_token: token } = await fixtures.done('GET', base, { token: owner.token });
  return { base, token, owner: owner.token, projectId: id };
}

async function registered(
  fixtures: Fixtures,
): Promise<{ id: number; token: string; owner: string; projectId: number }> {
  const { token, owner, projectId } = await place(fixtures);
  const made = await fixtures.done('POST', '/runners', { json: { token } });
  return { ...made, owner, projectId };
}

async function listed(fixtures: Fixtures, path: string, id: number): Promise<string> {
  const runners: { id: number }[] = await fixtures.done('GET', path, { token: fixtures.service.rootToken });
  return countOf(runners.filter((one) => one.id === id));
}

/** Whether a registration token is refused: with an invalid value it registers nothing either. */
async function refused({ service }: Fixtures, token: string): Promise<string> {
  const answer = await service.call('POST', '/runners', { json: { token, maximum_timeout: 1 } });
  return answer.status === 400 ? 'before' : answer.status === 403 ? 'after' : answered(answer);
}
