/** What runners do with jobs: taking them, reporting them, sending what they print. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readContent } from '../../../lib/http/content.ts';
import { jobTraceKey } from '../../../lib/store/row-keys/job-traces.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { report, sendTrace, smallRunner } from '../../harness/small-runner.ts';
import { inClone } from './clone.ts';

const { service, world, as, root } = ownWorld();

let names = 0;
/** A project whose pipeline waits for a runner, and the registration token of its runners. */
async function project(config: string, more: Record<string, unknown> = {}) {
  const json = { name: `jobs ${++names}`, shared_runners_enabled: false, ...more };
  const { id, path_with_namespace: path } = (await as('owner', 'POST', '/projects', json)).body;
  const registration = (await as('owner', 'GET', `/projects/${id}`)).body.runners_token as string;
  await configure(id, config);
  return { id: id as number, path: path as string, registration };
}

async function configure(id: number, content: string): Promise<void> {
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
  const json = { branch: 'main', commit_message: 'Configure', actions };
  expect((await as('owner', 'POST', `/projects/${id}/repository/commits`, json)).status).toBe(201);
  await settled();
}

const traceOf = async (projectId: number, id: number) =>
  Buffer.from(await readContent(world.store.jobTraces.read({ projectId, id }))).toString();
test('a job tells the runner that took it', async () => {
  const { id: projectId, registration } = await project("work: { script: ['make'] }");
  const { body: taken } = await (await smallRunner(service, registration)).take();
  const { body: shown } = await as('owner', 'GET', `/projects/${projectId}/jobs/${taken.id}`);
  const { body: runners } = await as('owner', 'GET', `/projects/${projectId}/runners`);
  const { paused: _, runner_type: __, ...basic } = runners[0];
  expect(shown.runner).toEqual(basic);
});

test('a job is fetched as its project says', async () => {
  const { id, registration } = await project("work: { script: ['make'] }");
  const settings = { build_git_strategy: 'clone', ci_default_git_depth: 7 };
  expect((await as('owner', 'PUT', `/projects/${id}`, settings)).status).toBe(200);
  const { body } = await (await smallRunner(service, registration)).take();
  expect(body).toMatchObject({ allow_git_fetch: false, git_info: { depth: 7 } });
});

test('a job that releases has a step for it after its script', async () => {
  const { registration } = await project(`
    publish:
      script: ['make']
      after_script: ['echo after']
      release:
        tag_name: v1
        description: 'Release of $CI_COMMIT_SHA'
        milestones: [one, two]
        assets: { links: [{ name: tool, url: 'https://example.com/tool', filepath: /tool }] }`);
  const { body } = await (await smallRunner(service, registration)).take();
  const link = String.raw`{\"name\":\"tool\",\"url\":\"https://example.com/tool\",\"filepath\":\"/tool\"}`;
  expect(body.steps).toEqual([
    expect.objectContaining({ name: 'script', script: ['make'] }),
    {
      name: 'release',
      script: [
        'release-cli create --description "Release of $CI_COMMIT_SHA" --tag-name "v1"' +
          ` --milestone "one" --milestone "two" --assets-link "${link}"`,
      ],
      timeout: 3600,
      when: 'on_success',
      allow_failure: false,
    },
    expect.objectContaining({ name: 'after_script' }),
  ]);
});

test.each([
  ['multi_build_steps', 'release: { tag_name: v1, description: one }'],
  ['upload_multiple_artifacts', 'artifacts: { reports: { junit: junit.xml } }'],
  ['artifacts_exclude', 'artifacts: { paths: [out], exclude: [out/a] }'],
  ['return_exit_code', 'allow_failure: { exit_codes: 3 }'],
])('a job that needs %s fails at a runner without it, which gets the next one', async (feature, key) => {
  const config = `demanding: { script: [x], ${key} }\nplain: { script: [x] }`;
  const { id: projectId, registration } = await project(config);
  const runner = await smallRunner(service, registration, {}, { refspecs: true });
  expect((await runner.take()).status, feature).toBe(409);
  const next = await runner.take();
  expect([next.status, next.body.job_info.name]).toEqual([201, 'plain']);
  const [failed] = (await as('owner', 'GET', `/projects/${projectId}/jobs?scope[]=failed`)).body;
  expect(failed).toMatchObject({ name: 'demanding', failure_reason: 'runner_unsupported' });
});

const job = async (id: number) => (await world.store.jobs.get(id))!;

test('a runner registers, takes a job, sends its trace and ends it, and the next job follows', async () => {
  const config = `
    stages: [build, test]
    variables: { COLOUR: red }
    compile: { stage: build, image: 'alpine:3', before_script: ['echo before'], script: ['make'], after_script: ['echo after'] }
    check: { stage: test, script: ['make check'] }`;
  const { id: projectId, path, registration } = await project(config);
  const runner = await smallRunner(service, registration);
  const { status, body } = await runner.take();
  expect(status).toBe(201);
  expect(body).toMatchObject({
    id: expect.any(Number),
    token: expect.stringMatching(/^[\w-]{20}$/),
    allow_git_fetch: true,
    job_info: { name: 'compile', stage: 'build', project_id: projectId },
    git_info: {
      repo_url: expect.stringContaining(`gitlab-ci-token:${body.token}@`),
      ref: 'main',
      ref_type: 'branch',
      refspecs: ['+refs/heads/main:refs/remotes/origin/main'],
      depth: 50,
    },
    runner_info: { timeout: 3600 },
    steps: [
      { name: 'script', script: ['echo before', 'make'], when: 'on_success', allow_failure: false },
      { name: 'after_script', script: ['echo after'], when: 'always', allow_failure: true },
    ],
    image: { name: 'alpine:3' },
    services: [],
    artifacts: [],
    cache: [],
    credentials: [],
    dependencies: [],
  });
  const value = (key: string) => body.variables.find((each: { key: string }) => each.key === key)?.value;
  expect([value('CI_JOB_ID'), value('CI_PROJECT_PATH'), value('CI_JOB_TOKEN'), value('COLOUR')]).toEqual([
    String(body.id),
    path,
    body.token,
    'red',
  ]);
  expect((await runner.take()).status).toBe(204);

  const first = await sendTrace(service, body, 0, `hello ${body.token} `);
  expect([first.status, first.headers.get('range'), first.headers.get('job-status')]).toEqual([
    202,
    '0-27',
    'running',
  ]);
  expect((await sendTrace(service, body, 27, 'wörld\n')).status).toBe(202);
  expect(await traceOf(projectId, body.id)).toBe(`hello ${'x'.repeat(20)} wörld\n`);
  const shown = await fetch(`${service.url}/api/v4/projects/${projectId}/jobs/${body.id}/trace`, {
    headers: { 'PRIVATE-TOKEN': world.tokens.owner! },
  });
  expect(await shown.text()).toBe(`hello ${'x'.repeat(20)} wörld\n`);
  expect(shown.headers.get('content-disposition')).toBe(`infile; filename="${body.id}.log"`);
  expect((await as('stranger', 'GET', `/projects/${projectId}/jobs/${body.id}/trace`)).status).toBe(404);

  const ended = await report(service, body, 'success');
  expect([ended.status, ended.headers.get('job-status')]).toEqual([200, 'success']);
  expect(await job(body.id)).toMatchObject({ status: 'success', runnerId: runner.id });
  await settled();
  const next = await runner.take();
  expect(next.body.job_info.name).toBe('check');
  expect((await report(service, next.body, 'failed', { failure_reason: 'script_failure' })).status).toBe(200);
  expect(await job(next.body.id)).toMatchObject({ status: 'failed', failureReason: 'script_failure' });
});

describe('who gets a job', () => {
  test('of fifty runners that ask at once for ten jobs each job gets one', async () => {
    const config = Array.from({ length: 10 }, (_, n) => `job-${n}: { script: [x] }`).join('\n');
    const { registration } = await project(config);
    const runners = await Promise.all(Array.from({ length: 50 }, () => smallRunner(service, registration)));
    const got: number[] = [];
    await Promise.all(
      runners.map(async (runner) => {
        for (let n = 0; n < 30; n++) {
          const { status, body } = await runner.take();
          if (status === 201) got.push(body.id);
          else if (status === 204) return;
          else expect(status).toBe(409);
        }
      }),
    );
    expect(got).toHaveLength(10);
    expect(new Set(got).size).toBe(10);
  });

  test('tags, untagged jobs, protected refs and pauses are obeyed', async () => {
    const { registration } = await project(`
      plain: { script: [x] }
      tagged: { script: [x], tags: [fast, large] }`);
    const taken = async (more: Record<string, unknown>) => {
      const { status, body } = await (await smallRunner(service, registration, more)).take();
      return status === 201 ? body.job_info.name : status;
    };
    expect(await taken({ paused: true })).toBe(204);
    expect(await taken({ tag_list: 'fast', run_untagged: false })).toBe(204);
    expect(await taken({ tag_list: 'fast,large,red', run_untagged: false })).toBe('tagged');
    // The default branch is protected.
    expect(await taken({ access_level: 'ref_protected' })).toBe('plain');
  });

  test('runners of groups and of the instance take jobs of projects that allow it, and take turns between projects', async () => {
    const token = (await root('GET', '/application/settings')).body.runners_registration_token;
    const shared = await smallRunner(service, token);
    const one = await project('a: { script: [x] }\nb: { script: [x] }\nc: { script: [x] }', {
      shared_runners_enabled: true,
    });
    const two = await project('a: { script: [x] }', { shared_runners_enabled: true });
    await project('a: { script: [x] }');
    const order: number[] = [];
    for (let n = 0; n < 4; n++) order.push((await shared.take()).body.job_info.project_id);
    expect(order).toEqual([one.id, two.id, one.id, one.id]);
    expect((await shared.take()).status).toBe(204);
  });

  test('an unknown token is refused, and a wrong request', async () => {
    expect((await as('anonymous', 'POST', '/jobs/request', { token: 'x' })).status).toBe(403);
    expect((await as('anonymous', 'POST', '/jobs/request', {})).status).toBe(400);
  });
});

describe('a job that runs', () => {
  const running = async () => {
    const made = await project('a: { script: [x] }');
    const runner = await smallRunner(service, made.registration);
    const { body } = await runner.take();
    return { ...made, runner, job: body as { id: number; token: string } };
  };

  test('is reported with its own token alone, and once', async () => {
    const [first, second] = [await running(), await running()];
    for (const token of ['x', second.job.token, first.runner.token])
      expect((await report(service, { id: first.job.id, token }, 'success')).status).toBe(403);
    const answers = await Promise.all(
      ['success', 'failed', 'success'].map((state) => report(service, first.job, state)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
    expect((await sendTrace(service, first.job, 0, 'late')).status).toBe(403);
    expect((await report(service, second.job, 'running')).status).toBe(200);
  });

  test('and was ended by others is told to its runner, which has its token, and to nobody else', async () => {
    const { id, job: taken } = await running();
    const cancelled = await as('owner', 'POST', `/projects/${id}/jobs/${taken.id}/cancel`);
    expect(cancelled.body.status).toBe('canceled');
    const reported = await report(service, taken, 'success');
    expect(reported.body).toEqual({ message: '403 Forbidden - Job is not running' });
    const answers = [
      reported,
      await report(service, taken, 'running'),
      await sendTrace(service, taken, 0, 'on'),
    ];
    for (const { status, headers } of answers)
      expect([status, headers.get('job-status')]).toEqual([403, 'canceled']);
    const another = await report(service, { id: taken.id, token: 'another' }, 'success');
    expect([another.status, another.headers.get('job-status')]).toEqual([403, null]);
    expect(await job(taken.id)).toMatchObject({ status: 'canceled' });
    const again = await as('owner', 'POST', `/projects/${id}/jobs/${taken.id}/retry`);
    const repeated = await report(service, { ...taken, id: again.body.id }, 'success');
    expect([repeated.status, repeated.headers.get('job-status')]).toEqual([403, null]);
  });

  test('appends to its trace in order; overlapping pieces are told where it ends', async () => {
    const { id, job: taken } = await running();
    expect((await sendTrace(service, taken, 3, 'abc')).status).toBe(416);
    const same = await Promise.all(['one', 'longer'].map((text) => sendTrace(service, taken, 0, text)));
    expect(same.map(({ status }) => status).sort()).toEqual([202, 416]);
    const winner = same[0]!.status === 202 ? 'one' : 'longer';
    const again = await sendTrace(service, taken, 0, 'other');
    expect([again.status, again.headers.get('range')]).toEqual([416, `0-${winner.length}`]);
    expect((await sendTrace(service, taken, winner.length, '!')).status).toBe(202);
    expect(await traceOf(id, taken.id)).toBe(`${winner}!`);
    const without = await fetch(`${service.url}/api/v4/jobs/${taken.id}/trace`, {
      method: 'PATCH',
      headers: { 'JOB-TOKEN': taken.token },
      body: 'x',
    });
    expect([without.status, await without.json()]).toEqual([
      400,
      { error: '400 Missing header Content-Range' },
    ]);
  });

  test('fails when it prints too much, or in too many pieces', async () => {
    const [long, scattered] = [await running(), await running()];
    const printed = { size: 100 * 1024 * 1024, pieces: 1 };
    const often = { size: 100_000, pieces: 100_000 };
    for (const [{ id, job: taken }, state] of [
      [long, printed],
      [scattered, often],
    ] as const) {
      await world.store.table.put({ put: { ...jobTraceKey(id, taken.id), ...state } });
      expect((await sendTrace(service, taken, state.size, 'x')).status).toBe(413);
      expect(await job(taken.id)).toMatchObject({
        status: 'failed',
        failureReason: 'trace_size_exceeded',
      });
    }
  });

  test('stores no masked value and no token, also where a piece ends within', async () => {
    const { id, registration } = await project('a: { script: [x] }');
    const variable = (key: string, value: string, masked: boolean) =>
      as('owner', 'POST', `/projects/${id}/variables`, { key, value, masked, protected: false });
    await variable('SECRET', 'secret-value', true);
    await variable('PLAIN', 'plain-value', false);
    const runner = await smallRunner(service, registration);
    const taken = (await runner.take()).body;
    const pieces = [
      'a secret-value plain-value ',
      'b secret-',
      'value ',
      `c ${taken.token.slice(0, 12)}`,
      `${taken.token.slice(12)} secret`,
      'ly\n',
    ];
    let at = 0;
    for (const piece of pieces) {
      const answer = await sendTrace(service, taken, at, piece);
      at += piece.length;
      expect([answer.status, answer.headers.get('range')]).toEqual([202, `0-${at}`]);
    }
    const x = (length: number) => 'x'.repeat(length);
    expect(await traceOf(id, taken.id)).toBe(`a ${x(12)} plain-value b ${x(12)} c ${x(20)} ${x(6)}ly\n`);
    // What the runner counted of what it sent is not what is stored.
    const output = { checksum: 'crc32:00000000', bytesize: at };
    expect((await report(service, taken, 'success', { checksum: 'crc32:00000000', output })).status).toBe(
      200,
    );
  });

  test('clones its project with its token, until it ends', async () => {
    const { path, job: taken } = await running();
    const clone = () => inClone(service.url, path, taken.token);
    expect(await clone()).toBe(true);
    const other = (await as('owner', 'GET', `/projects/${world.ids['private']}`)).body.path_with_namespace;
    expect(await inClone(service.url, other, taken.token)).toBe(false);
    await report(service, taken, 'success');
    expect(await clone()).toBe(false);
  });

  test('goes with its project', async () => {
    const { id, job: taken, runner } = await running();
    await sendTrace(service, taken, 0, 'text');
    await as('owner', 'DELETE', `/projects/${id}`);
    expect((await sendTrace(service, taken, 4, 'more')).status).toBe(403);
    await settled();
    expect(
      (await world.store.blobs.list('traces/')).keys.filter((key) =>
        key.includes(`/${String(id).padStart(12, '0')}/`),
      ),
    ).toEqual([]);
    expect((await runner.take()).status).toBe(403);
  });
});

test('a cache whose key is files has one key until they change', async () => {
  const config = `
    a:
      script: [x]
      cache:
        - { key: { files: [lock, none], prefix: $CI_JOB_NAME }, paths: [deps] }
        - { key: { files: [none] }, paths: [more] }`;
  const { id, registration } = await project(config);
  const runner = await smallRunner(service, registration);
  const commit = async (action: string, file_path: string, content: string) => {
    const made = await as('owner', 'POST', `/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: file_path,
      actions: [{ action, file_path, content }],
    });
    await settled();
    return made.body.id as string;
  };
  const keys = async () => {
    const { body } = await runner.take();
    await report(service, body, 'success');
    return body.cache.map(({ key }: { key: string }) => key);
  };
  const of = (sha: string) => `$CI_JOB_NAME-${createHash('sha1').update(sha).digest('hex')}`;
  expect(await keys()).toEqual(['$CI_JOB_NAME-default', 'default']);
  const first = await commit('create', 'lock', '1');
  expect(await keys()).toEqual([of(first), 'default']);
  await commit('create', 'other', '1');
  expect(await keys()).toEqual([of(first), 'default']);
  const second = await commit('update', 'lock', '2');
  expect(await keys()).toEqual([of(second), 'default']);
});
