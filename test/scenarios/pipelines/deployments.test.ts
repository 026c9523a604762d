/** Environments and deployments that jobs make. */
import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { stopDue } from '../../../lib/domain/pipelines/stop-environment.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import { type Piped, piped } from './piped.ts';

const { world } = ownWorld();

const CONFIG = `
variables:
  ROOT: example.com
review:
  script: deploy
  environment:
    name: review/$CI_COMMIT_REF_NAME
    url: https://$CI_ENVIRONMENT_SLUG.$ROOT
    on_stop: take down
    auto_stop_in: 1 day
    deployment_tier: testing
take down:
  script: remove
  when: manual
  environment:
    name: review/$CI_COMMIT_REF_NAME
    action: stop
`;

const environmentOf = async (made: Piped, name: string) => {
  const { body } = await made.call('GET', `/environments?name=${encodeURIComponent(name)}`);
  return body.length === 0 ? undefined : (await made.call('GET', `/environments/${body[0].id}`)).body;
};
const deploymentsOf = async (made: Piped, query = '') =>
  (await made.call('GET', `/deployments${query}`)).body;
const statusesOf = async (made: Piped) =>
  (await deploymentsOf(made)).map(({ status }: { status: string }) => status);

test('a job makes its environment and deployment, which lives as the job does', async () => {
  const made = await piped(world, CONFIG);
  const [{ id }] = await made.pipelines();
  expect(await statusesOf(made)).toEqual(['created']);
  const jobId = await made.start(id, 'review');
  const [deployment] = await deploymentsOf(made);
  expect(deployment).toMatchObject({
    status: 'running',
    ref: 'main',
    sha: made.sha,
    user: { username: 'owner' },
    environment: { name: 'review/main' },
    deployable: { id: jobId, name: 'review', status: 'running', pipeline: { id } },
  });
  expectSchema('deployment', deployment);
  const before = await environmentOf(made, 'review/main');
  expect(before).toMatchObject({ tier: 'testing', external_url: null, last_deployment: null });
  await made.end(id, 'review', 'success');
  const after = await environmentOf(made, 'review/main');
  expect(after).toMatchObject({
    state: 'available',
    external_url: `https://${after.slug}.example.com`,
    last_deployment: { id: deployment.id, status: 'success', deployable: { id: jobId } },
  });
  const day = Date.parse(after.auto_stop_at) - Date.now();
  expect(day).toBeGreaterThan(86_000_000);
  expect(day).toBeLessThanOrEqual(86_400_000);
  expectSchema('environment', after);
});

test('a deployment of a job cannot be changed through the API', async () => {
  const made = await piped(world, CONFIG);
  const [{ id }] = await deploymentsOf(made);
  const answer = await made.call('PUT', `/deployments/${id}`, { status: 'success' });
  expect([answer.status, answer.body.message]).toEqual([
    403,
    '403 Forbidden - Deployments created using GitLab CI can not be updated using the API',
  ]);
});

test('a deployment fails and is cancelled with its job; one that repeats it is another', async () => {
  const made = await piped(
    world,
    'one:\n  script: x\n  environment: one\ntwo:\n  script: y\n  environment: two\n',
  );
  const [{ id }] = await made.pipelines();
  const one = await made.end(id, 'one', 'failed');
  await made.call('POST', `/pipelines/${id}/cancel`);
  await settled();
  // What has never begun is not cancelled, but never was.
  expect((await statusesOf(made)).toSorted()).toEqual(['canceled', 'failed']);
  await made.call('POST', `/jobs/${one}/retry`);
  await settled();
  expect((await statusesOf(made)).toSorted()).toEqual(['canceled', 'created', 'failed']);
});

test('stopping an environment starts its stop job, and its success keeps it stopped', async () => {
  const made = await piped(world, CONFIG);
  const [{ id }] = await made.pipelines();
  await made.end(id, 'review', 'success');
  const environment = await environmentOf(made, 'review/main');
  const stop = `/environments/${environment.id}/stop`;
  // It would start a job on a protected branch.
  expect((await made.call('POST', stop, undefined, 'developer')).status).toBe(403);
  expect(await made.jobs(id)).toMatchObject({ 'take down': 'manual' });
  const stopped = await made.call('POST', stop);
  expect([stopped.status, stopped.body.state, stopped.body.auto_stop_at]).toEqual([200, 'stopped', null]);
  expect(await made.jobs(id)).toMatchObject({ 'take down': 'pending' });
  await made.end(id, 'take down', 'success');
  expect((await environmentOf(made, 'review/main')).state).toBe('stopped');
  // The stop job deploys nothing.
  expect(await statusesOf(made)).toEqual(['success']);
});

test('an environment whose stop job fails stays stopped, and the job can be tried again', async () => {
  const made = await piped(world, CONFIG);
  const [{ id }] = await made.pipelines();
  await made.end(id, 'review', 'success');
  const stop = `/environments/${(await environmentOf(made, 'review/main')).id}/stop`;
  expect((await made.call('POST', stop)).status).toBe(200);
  const failed = await made.end(id, 'take down', 'failed');
  expect(await environmentOf(made, 'review/main')).toMatchObject({ state: 'stopped' });
  expect((await made.call('POST', stop)).body.state).toBe('stopped');
  expect(await made.jobs(id)).toMatchObject({ 'take down': 'failed' });
  expect((await made.call('POST', `/jobs/${failed}/retry`)).status).toBe(201);
  await settled();
  await made.end(id, 'take down', 'success');
  expect(await statusesOf(made)).toEqual(['success']);
});

test('a stop job that is played stops its environment, and a later deployment makes it available again', async () => {
  const made = await piped(world, CONFIG);
  const [{ id }] = await made.pipelines();
  const review = await made.end(id, 'review', 'success');
  const job = (await made.call('GET', '/jobs?scope[]=manual')).body[0];
  expect((await made.call('POST', `/jobs/${job.id}/play`)).status).toBe(200);
  await settled();
  await made.end(id, 'take down', 'success');
  expect((await environmentOf(made, 'review/main')).state).toBe('stopped');
  await made.call('POST', `/jobs/${review}/retry`);
  await settled();
  await made.end(id, 'review', 'success');
  expect((await environmentOf(made, 'review/main')).state).toBe('available');
});

test('an environment is stopped when its time has come, unless it was deployed to again', async () => {
  const made = await piped(world, CONFIG);
  const [{ id }] = await made.pipelines();
  await made.end(id, 'review', 'success');
  const { id: environmentId } = await environmentOf(made, 'review/main');
  const at = (days: number) =>
    stopDue(
      { ...deps(), now: () => new Date(Date.now() + days * 86_400_000) },
      { projectId: made.id, environmentId },
    );
  await at(0.5);
  expect((await environmentOf(made, 'review/main')).state).toBe('available');
  await at(1.1);
  await settled();
  expect((await environmentOf(made, 'review/main')).state).toBe('stopped');
  expect(await made.jobs(id)).toMatchObject({ 'take down': 'pending' });
});

test('what was deployed last from a branch is stopped when the branch is deleted', async () => {
  const made = await piped(world, CONFIG);
  const deployed = async (branch: string) => {
    await made.commit(branch, { [branch]: 'x' }, branch, 'main');
    const [{ id }] = await made.pipelines(`?ref=${branch}`);
    await made.end(id, 'review', 'success');
    return id as number;
  };
  const [gone, stays] = [await deployed('gone'), await deployed('stays')];
  expect((await made.call('DELETE', '/repository/branches/gone')).status).toBe(204);
  await settled();
  expect((await environmentOf(made, 'review/gone')).state).toBe('stopped');
  expect(await made.jobs(gone)).toEqual({ review: 'success', 'take down': 'pending' });
  expect((await environmentOf(made, 'review/stays')).state).toBe('available');
  expect(await made.jobs(stays)).toEqual({ review: 'success', 'take down': 'manual' });
});

const OF_MERGE_REQUESTS = CONFIG.replaceAll('  script:', '  only: [merge_requests]\n  script:');
/** A merge request, its pipeline, and the environment that this deployed to. */
async function deployedFor(made: Piped, branch: string) {
  await made.commit(branch, { [branch]: 'x' }, branch, 'main');
  const request = { source_branch: branch, target_branch: 'main', title: branch };
  const { iid } = (await made.call('POST', '/merge_requests', request)).body;
  await settled();
  const [{ id }] = (await made.call('GET', `/merge_requests/${iid}/pipelines`)).body;
  await made.end(id, 'review', 'success');
  const [last] = await deploymentsOf(made, '?sort=desc');
  return { iid: iid as number, id: id as number, name: last.environment.name as string };
}

test('what a pipeline of a merge request deployed is stopped when that is merged or closed', async () => {
  const made = await piped(world, OF_MERGE_REQUESTS);
  const [merged, closed, stays] = [
    await deployedFor(made, 'merged'),
    await deployedFor(made, 'closed'),
    await deployedFor(made, 'stays'),
  ];
  expect((await made.call('PUT', `/merge_requests/${merged.iid}/merge`)).status).toBe(200);
  await made.call('PUT', `/merge_requests/${closed.iid}`, { state_event: 'close' });
  await made.call('PUT', `/merge_requests/${stays.iid}`, { title: 'another' });
  await settled();
  for (const { id, name } of [merged, closed]) {
    expect((await environmentOf(made, name)).state).toBe('stopped');
    expect(await made.jobs(id)).toEqual({ review: 'success', 'take down': 'pending' });
  }
  expect((await environmentOf(made, stays.name)).state).toBe('available');
});

test('what a pipeline of a merge request deployed is stopped when the source branch is deleted', async () => {
  const made = await piped(world, OF_MERGE_REQUESTS);
  const deployed = (branch: string) => deployedFor(made, branch);
  const [gone, merged, stays] = [await deployed('gone'), await deployed('merged'), await deployed('stays')];
  expect((await made.call('DELETE', '/repository/branches/gone')).status).toBe(204);
  const merging = await made.call('PUT', `/merge_requests/${merged.iid}/merge`, {
    should_remove_source_branch: true,
  });
  expect(merging.status).toBe(200);
  await settled();
  for (const { id, name } of [gone, merged]) {
    expect((await environmentOf(made, name)).state).toBe('stopped');
    expect(await made.jobs(id)).toEqual({ review: 'success', 'take down': 'pending' });
  }
  expect((await environmentOf(made, stays.name)).state).toBe('available');
});

test('an environment stays where its stop job is missing, or another branch was deployed to it since', async () => {
  const shared = CONFIG.replaceAll('review/$CI_COMMIT_REF_NAME', 'shared');
  const made = await piped(world, shared);
  const alone = shared.replace('    on_stop: take down\n', '').replaceAll('name: shared', 'name: alone');
  await made.commit('one', { one: 'x' }, 'one', 'main');
  await made.commit('two', { two: 'x' }, 'two', 'main');
  for (const branch of ['one', 'two']) {
    const [{ id }] = await made.pipelines(`?ref=${branch}`);
    await made.end(id, 'review', 'success');
  }
  await made.call('DELETE', '/repository/branches/one');
  await settled();
  expect((await environmentOf(made, 'shared')).state).toBe('available');
  const without = await piped(world, alone);
  await without.commit('one', { one: 'x' }, 'one', 'main');
  const [{ id }] = await without.pipelines('?ref=one');
  await without.end(id, 'review', 'success');
  await without.call('DELETE', '/repository/branches/one');
  await settled();
  expect((await environmentOf(without, 'alone')).state).toBe('available');
});

test('a job whose environment cannot be made fails, and says why', async () => {
  const made = await piped(world, 'variables:\n  PLACE: a?b\none:\n  script: x\n  environment: $PLACE\n');
  const [job] = (await made.call('GET', '/jobs')).body;
  expect(job).toMatchObject({ status: 'failed', failure_reason: 'environment_creation_failure' });
  expect(await deploymentsOf(made)).toEqual([]);
});

test('a job that only prepares an environment makes it, and deploys nothing', async () => {
  const made = await piped(world, 'one:\n  script: x\n  environment:\n    name: lab\n    action: prepare\n');
  expect(await environmentOf(made, 'lab')).toMatchObject({ state: 'available' });
  expect(await deploymentsOf(made)).toEqual([]);
});

test('a second deployment brings what the first did not', async () => {
  const made = await piped(world, 'one:\n  script: x\n  environment: live\n');
  const [{ id: first }] = await made.pipelines();
  await made.end(first, 'one', 'success');
  await made.call('POST', '/repository/branches?branch=side&ref=main');
  await made.commit('proposed', { b: 'b' }, 'side');
  const request = { source_branch: 'side', target_branch: 'main', title: 'brought' };
  const { iid } = (await made.call('POST', '/merge_requests', request)).body;
  const pending = await made.pipelines('?ref=side');
  for (const { id } of pending) await made.call('POST', `/pipelines/${id}/cancel`);
  expect((await made.call('PUT', `/merge_requests/${iid}/merge`)).status).toBe(200);
  await settled();
  const [{ id: second }] = await made.pipelines('?ref=main');
  expect(second).not.toBe(first);
  await made.end(second, 'one', 'success');
  const last = (await environmentOf(made, 'live')).last_deployment;
  const brought = (await made.call('GET', `/deployments/${last.id}/merge_requests`)).body;
  expect(brought.map((each: { iid: number }) => each.iid)).toEqual([iid]);
  const { body } = await made.call('GET', `/merge_requests/${iid}`);
  expect(body.first_deployed_to_production_at).toBe(last.updated_at);
});
