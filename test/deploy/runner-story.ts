import assert from 'node:assert/strict';
import { zipOf } from '../harness/zip.ts';
import { call as callAny, eventually, makeUser } from './client.ts';
import type { Deployed, Told } from './story.ts';

const CONFIG = `
build:
  script: make
  artifacts:
    paths: [out]
`;
const LOG = 'built at sea\n';

/** What a runner does with a job, and what its project shows of that. */
export async function runnerStory({ tally, url }: Deployed, { root }: Told): Promise<void> {
  const api = `${url}/api/v4`;
  const project = '/projects/builder%2Fbarge';
  let builder = '';
  let runner = '';
  let job: Record<string, unknown> = {};
  const call = async (status: number, method: string, path: string, body?: object) => {
    const given = body === undefined ? {} : { body };
    const answer = await callAny(`${api}${path}`, { method, token: builder, ...given });
    assert.equal(answer.status, status, answer.text);
    return answer;
  };
  /** As the runner, which has no token of a user. */
  const report = async (status: number, method: string, path: string, init: RequestInit) => {
    const headers = { 'JOB-TOKEN': String(job['token']), ...init.headers };
    const answer = await fetch(`${api}/jobs/${job['id']}${path}`, { ...init, method, headers });
    assert.equal(answer.status, status, await answer.text());
  };

  await tally.step('a push makes a pipeline, and a runner that registered takes its job', async () => {
    builder = await makeUser(api, root, 'builder');
    await call(201, 'POST', '/projects', { name: 'barge', visibility: 'private' });
    const { json } = await call(200, 'GET', project);
    const registered = await callAny(`${api}/runners`, { body: { token: json['runners_token'] } });
    assert.equal(registered.status, 201, registered.text);
    runner = String(registered.json['token']);
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIG }];
    await call(201, 'POST', `${project}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'Build' },
      actions,
    });
    await eventually(async () => {
      const info = { features: { upload_multiple_artifacts: true, refspecs: true } };
      const taken = await callAny(`${api}/jobs/request`, { body: { token: runner, info } });
      assert.equal(taken.status, 201, taken.text);
      job = taken.json;
    });
    assert.deepEqual((job['steps'] as Record<string, unknown>[])[0]?.['script'], ['make']);
  });

  await tally.step('it sends what the job prints and leaves, and that it succeeded', async () => {
    const range = `0-${LOG.length - 1}`;
    const headers = { 'Content-Type': 'text/plain', 'Content-Range': range };
    await report(202, 'PATCH', '/trace', { headers, body: LOG });
    const form = new FormData();
    form.append(
      'file',
      new Blob([zipOf([{ name: 'out/a b.txt', content: 'made' }]) as BlobPart]),
      'artifacts.zip',
    );
    await report(201, 'POST', '/artifacts', { body: form });
    const done = JSON.stringify({ token: job['token'], state: 'success' });
    await report(200, 'PUT', '', { headers: { 'Content-Type': 'application/json' }, body: done });
  });

  await tally.step('the project shows the success, the trace and the file', async () => {
    await eventually(async () => {
      const [pipeline] = JSON.parse((await call(200, 'GET', `${project}/pipelines`)).text);
      assert.equal(pipeline.status, 'success');
    });
    const path = `${project}/jobs/${job['id']}`;
    const { json } = await call(200, 'GET', path);
    assert.deepEqual([json['status'], json['name']], ['success', 'build']);
    assert.equal((await call(200, 'GET', `${path}/trace`)).text, LOG);
    assert.equal((await call(200, 'GET', `${path}/artifacts/out%2Fa%20b.txt`)).text, 'made');
    assert.equal((await callAny(`${api}${path}/trace`)).status, 404);
  });
}
