/** Jobs that would bring something older to an environment than it has. */
import { expect, test } from 'vitest';
import { jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const own = ownWorld();
const { as } = own;

interface Job {
  readonly id: number;
  readonly status: string;
}

let projects = 0;
/** A project in whose second pipeline a job has deployed, and in whose first such a job was started then. */
async function overtaken({ settings = {}, action = 'start' }) {
  const config = `
    deploy:
      script: [x]
      when: manual
      retry: 2
      environment: { name: production, action: ${action} }`;
  const project = await jobProject(own, `overtaken ${projects++}`, config, {
    auto_cancel_pending_pipelines: 'disabled',
    ...settings,
  });
  const path = `/projects/${project.id}`;
  const jobs = async (): Promise<Job[]> => (await as('owner', 'GET', `${path}/jobs`)).body;
  const change = async (id: number, how: string): Promise<Job> => {
    const { status, body } = await as('owner', 'POST', `${path}/jobs/${id}/${how}`);
    expect([200, 201]).toContain(status);
    await settled();
    return body;
  };
  await project.configure(config);
  const [newer, older] = (await jobs()) as [Job, Job];
  await change(newer.id, 'play');
  await project.end(await project.take());
  await change(older.id, 'play');
  return { project, path, jobs, change, older };
}

test('a job fails that deploys after a later one did, and only who repeats it goes back', async () => {
  const { project, path, jobs, change, older } = await overtaken({});
  expect((await project.runner.take()).status).toBe(204);
  await settled();
  const failed = (await as('owner', 'GET', `${path}/jobs/${older.id}`)).body;
  expect(failed).toMatchObject({ status: 'failed', failure_reason: 'forward_deployment_failure' });
  const { body: deployments } = await as('owner', 'GET', `${path}/deployments?order_by=id&sort=asc`);
  const ofJobs = deployments.map(({ deployable, status }: { deployable: Job; status: string }) => [
    deployable.id === older.id,
    status,
  ]);
  expect(ofJobs.toSorted()).toEqual([
    [false, 'success'],
    [true, 'failed'],
  ]);
  expect(await jobs()).toHaveLength(2);
  const again = await change(older.id, 'retry');
  expect((await project.take()).id).toBe(again.id);
});

test.each([[{ settings: { ci_forward_deployment_enabled: false } }], [{ action: 'prepare' }]])(
  'a job runs where the project does not mind, or nothing is deployed: %j',
  async (given) => {
    const { project, older } = await overtaken(given);
    expect((await project.take()).id).toBe(older.id);
  },
);
