/** What hooks hear of pipelines, jobs and what these deploy. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { startReceiver } from '../hooks/receiver.ts';
import { piped } from './piped.ts';

const { world, service } = ownWorld();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
  await changeSettings(service, { allow_local_requests_from_web_hooks_and_services: true });
});
afterAll(() => receiver.stop());

const CONFIG = `
stages: [build, deploy]
compile:
  stage: build
  script: make
ship:
  stage: deploy
  script: ship
  environment: live
`;

let paths = 0;
async function hooked(switches: object, config = CONFIG, more: Record<string, string> = {}) {
  const made = await piped(world, config, {}, more);
  const path = `/ok/${++paths}`;
  const json = { url: `${receiver.url}${path}`, push_events: false, ...switches };
  const { status, body } = await made.call('POST', '/hooks', json);
  expect(status).toBe(201);
  const heard = async (count: number) => {
    await settled();
    await expect.poll(() => receiver.at(path).length, { timeout: 60_000 }).toBe(count);
    return receiver.at(path).map(({ body: payload }) => payload);
  };
  return { ...made, hookId: body.id as number, path, heard };
}

test('a hook hears of each status of a pipeline, with its jobs', async () => {
  const made = await hooked({ pipeline_events: true });
  const [{ id }] = await made.pipelines();
  await made.end(id, 'compile', 'success');
  await made.end(id, 'ship', 'failed');
  const heard = await made.heard(2);
  expect(heard.map(({ object_attributes: { status } }) => status)).toEqual(['running', 'failed']);
  expect(receiver.at(made.path)[0]!.headers['x-gitlab-event']).toBe('Pipeline Hook');
  expect(heard[1]).toMatchObject({
    object_kind: 'pipeline',
    object_attributes: {
      id,
      ref: 'main',
      tag: false,
      sha: made.sha,
      source: 'push',
      detailed_status: 'failed',
      stages: ['build', 'deploy'],
      variables: [],
      url: expect.stringContaining(`/-/pipelines/${id}`),
    },
    merge_request: null,
    user: { username: 'owner' },
    project: { id: made.id },
    commit: { id: made.sha },
    builds: [
      { name: 'ship', stage: 'deploy', status: 'failed', environment: { name: 'live', action: 'start' } },
      { name: 'compile', stage: 'build', status: 'success', manual: false, allow_failure: false },
    ],
  });
});

test('a hook hears of each status of a job, once and in order', async () => {
  const made = await hooked({ job_events: true });
  const [{ id }] = await made.pipelines();
  await made.end(id, 'compile', 'success');
  await made.call('POST', `/pipelines/${id}/cancel`);
  const heard = await made.heard(4);
  expect(heard.map(({ build_name, build_status }) => `${build_name} ${build_status}`)).toEqual([
    'compile running',
    'compile success',
    'ship pending',
    'ship canceled',
  ]);
  expect(receiver.at(made.path)[0]!.headers['x-gitlab-event']).toBe('Job Hook');
  expect(heard[1]).toMatchObject({
    object_kind: 'build',
    ref: 'main',
    sha: made.sha,
    build_stage: 'build',
    pipeline_id: id,
    project_id: made.id,
    user: { username: 'owner' },
    commit: { id, sha: made.sha },
    repository: { homepage: expect.stringContaining('/') },
    environment: null,
  });
});

test('a hook hears of a deployment that a job makes, from its start on', async () => {
  const made = await hooked({ deployment_events: true });
  const [{ id }] = await made.pipelines();
  await made.end(id, 'compile', 'success');
  const jobId = await made.end(id, 'ship', 'success');
  const heard = await made.heard(2);
  expect(heard.map(({ status }) => status)).toEqual(['running', 'success']);
  expect(heard[1]).toMatchObject({ environment: 'live', deployable_id: jobId });
});

test('a hook hears which job of which pipeline started a pipeline, and of warnings', async () => {
  const made = await hooked({ pipeline_events: true }, '\nchild:\n  trigger:\n    include: child.yml\n', {
    'child.yml': 'may fail:\n  script: x\n  allow_failure: true\n',
  });
  const all = await made.pipelines();
  const of = (source: string) => all.find((each: { source: string }) => each.source === source).id;
  const [parent, child] = [of('push'), of('parent_pipeline')];
  const [{ id: job }] = (await made.call('GET', `/pipelines/${parent}/bridges`)).body;
  await made.end(child, 'may fail', 'failed');
  await settled();
  const heard = receiver.at(made.path).map(({ body }) => body);
  const last = heard.findLast(({ object_attributes: { id } }) => id === child);
  expect(last).toMatchObject({
    object_attributes: { status: 'success', detailed_status: 'passed with warnings' },
    source_pipeline: { job_id: job, pipeline_id: parent, project: { id: made.id } },
  });
  for (const each of heard.filter(({ object_attributes: { id } }) => id === parent))
    expect(each).not.toHaveProperty('source_pipeline');
});

test('hooks are tried with the newest pipeline and job', async () => {
  const made = await hooked({ pipeline_events: true, job_events: true });
  for (const trigger of ['pipeline_events', 'job_events'])
    expect((await made.call('POST', `/hooks/${made.hookId}/test/${trigger}`)).status).toBe(201);
  const heard = await made.heard(2);
  expect(heard.map(({ object_kind }) => object_kind)).toEqual(['pipeline', 'build']);
});
