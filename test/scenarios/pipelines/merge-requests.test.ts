/** Pipelines of merge requests. */
import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { depsWithSecrets } from '../../../functions/deps-with-secrets.ts';
import { variablesOfJob } from '../../../lib/domain/pipelines/job-variables.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import { ask, type Who } from '../../harness/world.ts';
import { type Piped, piped } from './piped.ts';

const { world } = ownWorld();

const CONFIG = `
proposed:
  script: x
  only: [merge_requests]
ruled:
  script: y
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
      changes: [b]
pushed:
  script: z
`;

const proposedIn = async (made: Piped, branch = 'side', files: Record<string, string> = { b: 'b' }) => {
  await made.commit(`to ${branch}`, files, branch, 'main');
  const request = { source_branch: branch, target_branch: 'main', title: `Merge ${branch}` };
  const { status, body } = await made.call('POST', '/merge_requests', request);
  expect(status).toBe(201);
  await settled();
  return body.iid as number;
};
const shown = async (made: Piped, iid: number) =>
  (await made.call('GET', `/merge_requests/${iid}/pipelines`)).body;

test('a merge request gets a pipeline of its own beside that of its branch, and it is its head pipeline', async () => {
  const made = await piped(world, CONFIG);
  const iid = await proposedIn(made);
  const [own, ofBranch, ...more] = await shown(made, iid);
  expect(more).toEqual([]);
  expect(own).toMatchObject({ ref: `refs/merge-requests/${iid}/head`, source: 'merge_request_event' });
  expect(ofBranch).toMatchObject({ ref: 'side', source: 'push' });
  expect(Object.keys(await made.jobs(own.id)).toSorted()).toEqual(['proposed', 'ruled']);
  expect(Object.keys(await made.jobs(ofBranch.id))).toEqual(['pushed']);
  const { body } = await made.call('GET', `/merge_requests/${iid}`);
  expect([body.head_pipeline.id, body.sha]).toEqual([own.id, own.sha]);
});

test('a commit that is not to be built makes a skipped one, until somebody asks for another', async () => {
  const made = await piped(world, CONFIG);
  const iid = await proposedIn(made);
  const sha = await made.commit('more [skip ci]', { c: 'c' }, 'side');
  const [own, ofBranch] = await shown(made, iid);
  expect(own).toMatchObject({ sha, source: 'merge_request_event', status: 'skipped' });
  expect(ofBranch).toMatchObject({ sha, source: 'push', status: 'skipped' });
  const { body } = await made.call('POST', `/merge_requests/${iid}/pipelines`);
  expect(body).toMatchObject({ sha, status: 'created' });
});

test('a merge request shows the pipeline of its head with all its fields, and when it ran', async () => {
  const made = await piped(world, 'proposed:\n  script: x\n  only: [merge_requests]\n');
  const iid = await proposedIn(made);
  const [own] = await shown(made, iid);
  const mr = async (who?: Who) => (await made.call('GET', `/merge_requests/${iid}`, undefined, who)).body;
  const whole = async () => (await made.call('GET', `/pipelines/${own.id}`)).body;
  expect(await mr()).toMatchObject({ latest_build_started_at: null, latest_build_finished_at: null });
  await made.start(own.id, 'proposed');
  const running = await whole();
  expect([running.status, running.started_at]).toEqual(['running', expect.any(String)]);
  expect(await mr()).toMatchObject({
    latest_build_started_at: running.started_at,
    latest_build_finished_at: null,
    head_pipeline: running,
  });
  await made.end(own.id, 'proposed', 'success');
  const ended = await whole();
  const { pipeline, head_pipeline, ...times } = await mr();
  expect(times).toMatchObject({
    latest_build_started_at: ended.started_at,
    latest_build_finished_at: ended.finished_at,
  });
  expect(ended.finished_at).not.toBeNull();
  expect([head_pipeline, pipeline]).toEqual([ended, { ...own, ...pipeline }]);
  expectSchema('pipeline/detail', head_pipeline);
  expect(Object.keys(pipeline).sort()).toEqual(Object.keys(own).sort());
  // Answers to changes show the same.
  expect((await made.call('PUT', `/merge_requests/${iid}`, { title: 'Other' })).body.head_pipeline).toEqual(
    ended,
  );
  // Who may not read pipelines learns nothing of it.
  await made.call('PUT', '', { builds_access_level: 'private' });
  expect(await mr('stranger')).toMatchObject({
    ...{ pipeline: null, head_pipeline: null },
    ...{ latest_build_started_at: null, latest_build_finished_at: null },
  });
});

test('a push to the source makes the next one, and replaces the one before', async () => {
  const made = await piped(world, CONFIG);
  const iid = await proposedIn(made);
  const [first] = await shown(made, iid);
  const sha = await made.commit('more', { c: 'c' }, 'side');
  const [second] = await shown(made, iid);
  expect(second).toMatchObject({ sha, source: 'merge_request_event' });
  expect(second.id).toBeGreaterThan(first.id);
  expect((await made.call('GET', `/pipelines/${first.id}`)).body.status).toBe('canceled');
});

test('without jobs for merge requests there is none', async () => {
  const made = await piped(world, 'pushed:\n  script: z\n');
  const iid = await proposedIn(made);
  expect((await shown(made, iid)).map(({ source }: { source: string }) => source)).toEqual(['push']);
  const asked = await made.call('POST', `/merge_requests/${iid}/pipelines`);
  expect([asked.status, asked.body.message]).toEqual([
    400,
    { base: ['No stages / jobs for this pipeline.'] },
  ]);
});

test('a workflow decides which of both there is', async () => {
  const rules = `
workflow:
  rules:
    - if: $CI_MERGE_REQUEST_IID
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
one:
  script: x
`;
  const made = await piped(world, rules);
  const iid = await proposedIn(made);
  const found = await shown(made, iid);
  expect(found.map(({ source }: { source: string }) => source)).toEqual(['merge_request_event']);
});

test('it is made when somebody asks, again for the same head', async () => {
  const made = await piped(world, CONFIG);
  const iid = await proposedIn(made);
  const asked = await made.call('POST', `/merge_requests/${iid}/pipelines`);
  expect([asked.status, asked.body.source]).toEqual([200, 'merge_request_event']);
  expect((await shown(made, iid)).map(({ id }: { id: number }) => id)).toContain(asked.body.id);
  expect((await made.call('POST', `/merge_requests/${iid}/pipelines`, undefined, 'reporter')).status).toBe(
    403,
  );
});

test('its jobs know the merge request, and no branch', async () => {
  const made = await piped(world, CONFIG);
  const iid = await proposedIn(made);
  const [{ id }] = await shown(made, iid);
  const { store } = deps();
  const [job] = await store.jobs.all(id);
  const [project, pipeline, spec] = await Promise.all([
    store.projects.get(made.id),
    store.pipelines.byId(made.id, id),
    store.jobs.spec(job!),
  ]);
  const facts = { project: project!, pipeline, job: job!, spec: spec!, baseUrl: 'http://localhost' };
  const variables = await variablesOfJob(depsWithSecrets(), facts);
  const values = Object.fromEntries(variables.map(({ key, value }) => [key, value]));
  expect(values).toMatchObject({
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_COMMIT_REF_NAME: 'side',
    CI_MERGE_REQUEST_IID: String(iid),
    CI_MERGE_REQUEST_TITLE: 'Merge side',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'side',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${iid}/head`,
    CI_COMMIT_REF_PROTECTED: 'false',
  });
  expect(values).not.toHaveProperty('CI_COMMIT_BRANCH');
});

test('that of a merge request from a fork runs in the fork', async () => {
  const made = await piped(world, CONFIG);
  const at = `/projects/${made.id}/fork`;
  const fork = (await ask(world, 'stranger', 'POST', at, { path: 'forked-for-pipelines' })).body;
  await settled();
  const actions = [{ action: 'create', file_path: 'b', content: 'b' }];
  const commit = { branch: 'side', start_branch: 'main', commit_message: 'x', actions };
  const pushed = await ask(world, 'stranger', 'POST', `/projects/${fork.id}/repository/commits`, commit);
  expect(pushed.status).toBe(201);
  const request = {
    source_branch: 'side',
    target_branch: 'main',
    title: 'from far',
    target_project_id: made.id,
  };
  const { body } = await ask(world, 'stranger', 'POST', `/projects/${fork.id}/merge_requests`, request);
  await settled();
  const inFork = (await ask(world, 'stranger', 'GET', `/projects/${fork.id}/pipelines`)).body;
  const own = inFork.filter(({ source }: { source: string }) => source === 'merge_request_event');
  expect(own).toMatchObject([{ ref: 'side', project_id: fork.id }]);
  expect(await made.pipelines('?source=merge_request_event')).toEqual([]);
  const { head_pipeline, pipeline } = (
    await ask(world, 'stranger', 'GET', `/projects/${made.id}/merge_requests/${body.iid}`)
  ).body;
  expect(head_pipeline).toMatchObject({ id: own[0].id, web_url: own[0].web_url });
  expect(pipeline).toEqual(own[0]);
});
