/** Hooks whose URLs lead to this very instance: each call does what another call may follow from. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { report, smallRunner } from '../../harness/small-runner.ts';

const { service, world, as } = ownWorld();
beforeAll(() => changeSettings(service, { allow_local_requests_from_web_hooks_and_services: true }));

let project: string;
beforeEach(async () => {
  const { body } = await as('owner', 'POST', '/projects', {
    name: `p-${Date.now()}`,
    initialize_with_readme: true,
  });
  project = `/projects/${body.id}`;
});

const token = () => encodeURIComponent(world.tokens['owner']!);
const itself = (path: string) => `${service.url}/api/v4${project}${path}`;
const writesIssues = () => itself(`/issues?title=again&private_token=${token()}`);

async function hook(url: string, more: object): Promise<string> {
  const { status, body } = await as('owner', 'POST', `${project}/hooks`, {
    url,
    push_events: false,
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return `${project}/hooks/${body.id}`;
}
const callsOf = async (at: string) => (await as('owner', 'GET', `${at}/events`)).body;
const issues = async () => (await as('owner', 'GET', `${project}/issues`)).body as { title: string }[];

test('a hook does not hear of an issue that its own call has made', async () => {
  const at = await hook(writesIssues(), { issues_events: true });
  await as('owner', 'POST', `${project}/issues`, { title: 'first' });
  await settled();
  expect((await issues()).map(({ title }) => title)).toEqual(['again', 'first']);
  expect(await callsOf(at)).toMatchObject([{ state: 'delivered', response_status: '201' }]);
});

test('an integration does not hear of an issue that its own call has made', async () => {
  const json = { webhook: writesIssues(), push_events: false };
  expect((await as('owner', 'PUT', `${project}/integrations/unify-circuit`, json)).status).toBe(200);
  await as('owner', 'POST', `${project}/issues`, { title: 'first' });
  await settled();
  expect((await issues()).map(({ title }) => title)).toEqual(['again', 'first']);
});

test('a hook does not hear of a commit that its own call has made', async () => {
  const change = 'actions[][action]=update&actions[][file_path]=README.md&actions[][content]=again';
  const url = itself(
    `/repository/commits?branch=main&commit_message=again&${change}&private_token=${token()}`,
  );
  const at = await hook(url, { push_events: true });
  await as('owner', 'POST', `${project}/repository/files/one.txt`, {
    ...{ branch: 'main', content: 'one', commit_message: 'first' },
  });
  await settled();
  const commits = (await as('owner', 'GET', `${project}/repository/commits`)).body as { title: string }[];
  expect(commits.slice(0, 2).map(({ title }) => title)).toEqual(['again', 'first']);
  expect(await callsOf(at)).toMatchObject([{ state: 'delivered', response_status: '201' }]);
});

/** A project whose pipelines have a job, and a URL that starts one. */
async function builds(): Promise<string> {
  await as('owner', 'POST', `${project}/repository/files/.gitlab-ci.yml`, {
    ...{ branch: 'main', content: 'hello:\n  script: echo\n', commit_message: 'Build [skip ci]' },
  });
  await settled();
  const trigger = (await as('owner', 'POST', `${project}/triggers`, { description: 'own' })).body;
  return itself(`/trigger/pipeline?ref=main&token=${trigger.token}`);
}
const pipelines = async () =>
  (await as('owner', 'GET', `${project}/pipelines`)).body.map(({ id }: { id: number }) => id) as number[];
const runner = async () =>
  smallRunner(service, (await as('owner', 'GET', project)).body.runners_token as string);

test('a hook does not hear of a pipeline that its own call has started, whose news a worker brings', async () => {
  const url = await builds();
  const before = await pipelines();
  const at = await hook(url, { pipeline_events: true });
  const { id } = (await as('owner', 'POST', `${project}/pipeline?ref=main`)).body;
  await settled();
  const calls = (await callsOf(at)) as { request_data: { object_attributes: { id: number } } }[];
  expect(new Set(calls.map(({ request_data }) => request_data.object_attributes.id))).toEqual(new Set([id]));
  expect(await pipelines()).toHaveLength(before.length + 1 + calls.length);
});

test('a hook does not hear of what a runner does with the pipelines that its own calls have started', async () => {
  const at = await hook(await builds(), { pipeline_events: true, job_events: true });
  const { id } = (await as('owner', 'POST', `${project}/pipeline?ref=main`)).body;
  await settled();
  const { take } = await runner();
  let taken = 0;
  for (let job = await take(); job.status === 201; job = await take()) {
    expect(++taken).toBeLessThan(20);
    expect((await report(service, job.body, 'success')).status).toBe(200);
    await settled();
  }
  const calls = (await callsOf(at)) as {
    request_data: { object_attributes?: { id: number }; pipeline_id?: number };
  }[];
  const heard = calls.map(({ request_data: data }) => data.pipeline_id ?? data.object_attributes?.id);
  expect(new Set(heard)).toEqual(new Set([id]));
  expect(taken).toBeGreaterThan(2);
});

test('a hook does not hear of what a job does, with its token, of a pipeline that its own call has started', async () => {
  const at = await hook(await builds(), { releases_events: true });
  const release = (tag_name: string) => ({ tag_name, ref: 'main', description: 'x' });
  await as('owner', 'POST', `${project}/releases`, release('v1'));
  await settled();
  const { take } = await runner();
  const ofCall = async (): Promise<string> => {
    const { body } = await take();
    const headers = { 'JOB-TOKEN': body.token as string };
    const { source } = (await service.call('GET', '/job', { headers })).body.pipeline;
    // The tag of the release has a pipeline too.
    return source === 'trigger' ? body.token : ofCall();
  };
  const headers = { 'JOB-TOKEN': await ofCall() };
  const made = await service.call('POST', `${project}/releases`, { headers, json: release('v2') });
  expect(made.status).toBe(201);
  await settled();
  expect(await callsOf(at)).toMatchObject([{ request_data: { tag: 'v1' } }]);
});

test('each of two hooks hears of what the calls of the other do, and of what follows no more', async () => {
  const two = [
    await hook(writesIssues(), { issues_events: true }),
    await hook(writesIssues(), { issues_events: true }),
  ];
  await as('owner', 'POST', `${project}/issues`, { title: 'first' });
  await settled();
  for (const at of two) expect(await callsOf(at)).toHaveLength(2);
  expect(await issues()).toHaveLength(5);
});

test('who says that a hook has called, without its key, keeps nothing from it', async () => {
  const at = await hook(itself('/issues'), { issues_events: true });
  await as('owner', 'POST', `${project}/issues`, { title: 'first' });
  await settled();
  const [{ id }] = await callsOf(at);
  const headers = { 'X-Hook-Call': `${at.split('/').at(-1)}.${id}.00000000-0000-4000-8000-000000000000` };
  const options = { token: world.tokens['owner']!, headers, json: { title: 'second' } };
  await service.call('POST', `${project}/issues`, options);
  await settled();
  expect(await callsOf(at)).toHaveLength(2);
});
