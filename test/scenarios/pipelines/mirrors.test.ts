/** Jobs that take over the status of another project's pipeline. */
import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { withBridges } from '../../../lib/domain/pipelines/bridges.ts';
import { checkPipeline } from '../../../lib/domain/pipelines/cancel.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { ask } from '../../harness/world.ts';
import { type Piped, piped } from './piped.ts';

const { world } = ownWorld();

const pathOf = async (made: Piped): Promise<string> => (await made.call('GET', '')).body.path_with_namespace;
const newestOf = async (made: Piped): Promise<number> => (await made.pipelines())[0].id;
const mirroring = (path: string) => `
mirror: { stage: test, needs: { pipeline: ${path} } }
later: { stage: deploy, script: [x] }
`;
async function bridgeOf(made: Piped, id: number) {
  const { body } = await made.call('GET', `/pipelines/${id}/bridges`);
  return body[0];
}
/** Commits another configuration. @returns its pipeline */
async function configured(made: Piped, content: string): Promise<number> {
  const actions = [{ action: 'update', file_path: '.gitlab-ci.yml', content }];
  const body = { branch: 'main', commit_message: 'configure', actions };
  expect((await made.call('POST', '/repository/commits', body)).status).toBe(201);
  await settled();
  return newestOf(made);
}

test.each([['success', 'success', 'pending'] as const, ['failed', 'failed', 'skipped'] as const])(
  'a job without a script ends as the newest pipeline of another project does: %s',
  async (end, status, later) => {
    const upstream = await piped(world, 'there: { script: [x] }', { visibility: 'private' });
    const made = await piped(world, mirroring(await pathOf(upstream)));
    const id = await newestOf(made);
    expect(await bridgeOf(made, id)).toMatchObject({ status: 'running', downstream_pipeline: null });
    expect(await made.jobs(id)).toEqual({ later: 'created' });
    await upstream.end(await newestOf(upstream), 'there', end);
    const bridge = await bridgeOf(made, id);
    expect(bridge.status).toBe(status);
    expect(bridge.failure_reason).toBe(status === 'failed' ? 'unknown_failure' : undefined);
    expect(await made.jobs(id)).toEqual({ later });
    const again = await configured(made, `${mirroring(await pathOf(upstream))}# again`);
    expect((await bridgeOf(made, again)).status).toBe(status);
    if (status !== 'failed') return;
    const pipelineId = await newestOf(upstream);
    expect((await upstream.call('POST', `/pipelines/${pipelineId}/retry`)).status).toBe(201);
    await settled();
    expect((await made.call('POST', `/pipelines/${again}/retry`)).status).toBe(201);
    await settled();
    expect((await bridgeOf(made, again)).status).toBe('running');
    await upstream.end(pipelineId, 'there', 'success');
    expect((await bridgeOf(made, again)).status).toBe('success');
    expect(await made.jobs(again)).toEqual({ later: 'pending' });
  },
);

test('a job that takes over the status of a cancelled pipeline is cancelled', async () => {
  const upstream = await piped(world, 'there: { script: [x] }');
  const made = await piped(world, mirroring(await pathOf(upstream)));
  await upstream.call('POST', `/pipelines/${await newestOf(upstream)}/cancel`);
  await settled();
  expect((await bridgeOf(made, await newestOf(made))).status).toBe('canceled');
});

test('a job that nobody told of the end finds it within the hour', async () => {
  const upstream = await piped(world, 'there: { script: [x] }');
  const made = await piped(world, mirroring(await pathOf(upstream)));
  const [id, gone] = [await newestOf(made), await newestOf(upstream)];
  expect((await upstream.call('DELETE', `/pipelines/${gone}`)).status).toBe(204);
  await settled();
  expect((await bridgeOf(made, id)).status).toBe('running');
  await checkPipeline(deps(), { projectId: made.id, pipelineId: id }, withBridges);
  expect((await bridgeOf(made, id)).status).toBe('failed');
});

test('the job fails where there is no pipeline that who started it may see, and where it would wait for itself', async () => {
  const made = await piped(world, 'x: { script: [x] }');
  const reasonOf = async (path: string) =>
    (await bridgeOf(made, await configured(made, mirroring(path)))).failure_reason;
  const own = await pathOf(made);
  expect(await reasonOf(own)).toBe('pipeline_loop_detected');
  expect(await reasonOf('no/where')).toBe('upstream_bridge_project_not_found');
  const theirs = async (name: string, more: object) =>
    (await ask(world, 'stranger', 'POST', '/projects', { name, ...more })).body.path_with_namespace;
  const hidden = await theirs('hidden', { visibility: 'private' });
  expect(await reasonOf(hidden)).toBe('upstream_bridge_project_not_found');
  const shown = await theirs('shown', { visibility: 'public' });
  expect(await reasonOf(shown)).toBe('upstream_bridge_project_not_found');
  const kept = await theirs('kept', { visibility: 'public', public_builds: false });
  expect(await reasonOf(kept)).toBe('insufficient_upstream_permissions');
});
