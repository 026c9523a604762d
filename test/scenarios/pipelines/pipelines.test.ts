import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Jobs } from '../../../lib/store/jobs/jobs.ts';
import { padded } from '../../../lib/store/row-keys/key.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import { type Piped, piped } from './piped.ts';

const { world } = ownWorld();

const CONFIG = `
stages: [build, test, deploy]
compile:
  stage: build
  script: make
lint:
  stage: build
  script: lint
  allow_failure: true
check:
  stage: test
  script: check
quick:
  stage: test
  script: quick
  needs: [lint]
ship:
  stage: deploy
  script: ship
  when: manual
  environment: production
`;

const project = (config = CONFIG, more: object = {}) => piped(world, config, more);

describe('a push', () => {
  let made: Piped;
  beforeAll(async () => {
    made = await project();
  });

  test('makes a pipeline whose first stage waits for runners', async () => {
    const [pipeline, ...more] = await made.pipelines();
    expect(more).toEqual([]);
    expect(pipeline).toMatchObject({ sha: made.sha, ref: 'main', source: 'push', status: 'pending' });
    expect(await made.jobs(pipeline.id)).toEqual({
      compile: 'pending',
      lint: 'pending',
      check: 'created',
      quick: 'created',
      ship: 'created',
    });
    const commit = await made.call('GET', `/repository/commits/${made.sha}`);
    expect(commit.body.last_pipeline).toMatchObject({ id: pipeline.id, status: 'pending' });
  });

  test('that asks for it gets a pipeline without jobs', async () => {
    const sha = await made.commit('Words [ci skip]', { a: 'a' }, 'skipping', 'main');
    const [pipeline] = await made.pipelines('?ref=skipping');
    expect(pipeline).toMatchObject({ sha, status: 'skipped' });
    expect(await made.jobs(pipeline.id)).toEqual({});
  });

  test('of a wrong configuration gets a failed pipeline that says what is wrong', async () => {
    const wrong = await project('job:\n  scripts: ls\n');
    const [pipeline] = await wrong.pipelines('?yaml_errors=true');
    expect(pipeline.status).toBe('failed');
    const { body } = await wrong.call('GET', `/pipelines/${pipeline.id}`);
    expect(body.yaml_errors).toContain('jobs:job config');
  });

  test('makes none without a configuration, and where builds are off', async () => {
    const without = await project();
    await without.call('PUT', '', { builds_access_level: 'disabled' });
    await without.commit('more', { b: 'b' });
    await without.call('PUT', '', { builds_access_level: 'enabled' });
    expect(await without.pipelines()).toHaveLength(1);
  });
});

test('jobs go on as those before them end, and the pipeline says so', async () => {
  const made = await project();
  const [{ id }] = await made.pipelines();
  await made.end(id, 'lint', 'failed');
  expect(await made.jobs(id)).toMatchObject({ lint: 'failed', quick: 'pending', check: 'created' });
  await made.end(id, 'compile', 'success');
  expect(await made.jobs(id)).toMatchObject({ check: 'pending', ship: 'created' });
  await made.end(id, 'check', 'success');
  await made.end(id, 'quick', 'failed');
  expect(await made.jobs(id)).toMatchObject({ quick: 'failed', ship: 'skipped' });
  const { body } = await made.call('GET', `/pipelines/${id}`);
  expect(body).toMatchObject({ status: 'failed', detailed_status: { text: 'failed' } });
  expectSchema('pipeline', body);
});

test('a failed job is repeated, what was skipped behind it goes on, and a manual job is played', async () => {
  const made = await project(
    'stages: [a, b]\none:\n  stage: a\n  script: x\ntwo:\n  stage: b\n  script: y\n  when: manual\n  allow_failure: false\n',
  );
  const [{ id }] = await made.pipelines();
  const one = await made.end(id, 'one', 'failed');
  expect(await made.jobs(id)).toEqual({ one: 'failed', two: 'skipped' });
  expect((await made.call('POST', `/jobs/${one}/retry`, undefined, 'developer')).status).toBe(403);
  await made.call('DELETE', '/protected_branches/main');
  const again = await made.call('POST', `/jobs/${one}/retry`, undefined, 'developer');
  expect([again.status, again.body.status]).toEqual([201, 'pending']);
  expect(again.body.user.username).toBe('developer');
  expect((await made.call('POST', `/jobs/${one}/retry`)).body.message).toBe(
    '403 Forbidden - Job is not retryable',
  );
  await settled();
  expect(await made.jobs(id)).toEqual({ one: 'pending', two: 'created' });
  expect((await made.call('GET', `/pipelines/${id}/jobs?include_retried=true`)).body).toHaveLength(3);
  await made.end(id, 'one', 'success');
  expect((await made.call('GET', `/pipelines/${id}`)).body.status).toBe('manual');
  const [two] = (await made.call('GET', '/jobs?scope[]=manual')).body;
  expect(two.name).toBe('two');
  const played = await made.call('POST', `/jobs/${two.id}/play`);
  expect([played.status, played.body.status]).toEqual([200, 'pending']);
  const twice = await made.call('POST', `/jobs/${two.id}/play`);
  expect([twice.status, twice.body.message]).toEqual([400, '400 Bad request - Unplayable Job']);
  expect((await made.call('POST', `/jobs/${two.id}/erase`)).body.message).toBe(
    '403 Forbidden - Job is not erasable!',
  );
});

test('a pipeline is cancelled, repeated and deleted with its jobs', async () => {
  const made = await project();
  const [{ id }] = await made.pipelines();
  const cancelled = await made.call('POST', `/pipelines/${id}/cancel`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'canceled']);
  expect(new Set(Object.values(await made.jobs(id)))).toEqual(new Set(['canceled']));
  const retried = await made.call('POST', `/pipelines/${id}/retry`);
  expect(retried.status).toBe(201);
  await settled();
  expect(await made.jobs(id)).toMatchObject({ compile: 'pending', ship: 'created' });
  expect((await made.call('DELETE', `/pipelines/${id}`, undefined, 'developer')).status).toBe(403);
  expect((await made.call('DELETE', `/pipelines/${id}`)).status).toBe(204);
  await settled();
  expect((await made.call('GET', `/pipelines/${id}`)).status).toBe(404);
  expect((await made.call('GET', '/jobs')).body).toEqual([]);
  expect(await made.pipelines()).toEqual([]);
});

describe('the API', () => {
  test('makes pipelines with variables, which Developers may read', async () => {
    const made = await project('only it:\n  script: x\n  rules:\n    - if: $WANTED == "yes"\n');
    const none = await made.call('POST', '/pipeline', { ref: 'main' });
    expect([none.status, none.body]).toEqual([
      400,
      { message: { base: ['No stages / jobs for this pipeline.'] } },
    ]);
    const variables = [{ key: 'WANTED', value: 'yes' }];
    const one = await made.call('POST', '/pipeline', { ref: 'main', variables });
    const developer = await made.call('POST', '/pipeline', { ref: 'main', variables }, 'developer');
    expect(developer.body.message).toEqual({
      base: ["Insufficient permissions for protected ref 'main'"],
    });
    expect([one.status, one.body.source]).toEqual([201, 'api']);
    expectSchema('pipeline', one.body);
    const given = await made.call('GET', `/pipelines/${one.body.id}/variables`, undefined, 'developer');
    expect(given.body).toEqual([{ variable_type: 'env_var', key: 'WANTED', value: 'yes' }]);
    expect(
      (await made.call('GET', `/pipelines/${one.body.id}/variables`, undefined, 'reporter')).status,
    ).toBe(403);
  });

  test('keeps variables to Maintainers where the project says so, but for those of its own configuration', async () => {
    const child = 'child: { variables: { A: b }, trigger: { include: child.yml } }';
    const made = await project(`x: { script: [x] }\n${child}`);
    await made.commit('child', { 'child.yml': 'inside: { script: [x] }' });
    expect((await made.call('POST', '/repository/branches?branch=open&ref=main')).status).toBe(201);
    await made.call('PUT', '', { restrict_user_defined_variables: true });
    const asked = { ref: 'open', variables: [{ key: 'A', value: 'b' }] };
    const refused = await made.call('POST', '/pipeline', asked, 'developer');
    expect([refused.status, refused.body.message]).toEqual([
      400,
      { base: ['Insufficient permissions to set pipeline variables'] },
    ]);
    expect((await made.call('POST', '/pipeline', asked)).status).toBe(201);
    const without = await made.call('POST', '/pipeline', { ref: 'open' }, 'developer');
    expect(without.status).toBe(201);
    await settled();
    const [bridge] = (await made.call('GET', `/pipelines/${without.body.id}/bridges`)).body;
    expect(bridge.status).toBe('success');
    const { body } = await made.call('GET', `/pipelines/${bridge.downstream_pipeline.id}/variables`);
    expect(body).toMatchObject([{ key: 'A', value: 'b' }]);
  });

  test('takes a mebibyte of variables and no more, also where names are made of them, and deletes them', async () => {
    const made = await project('a: { script: [x], tags: [$A], resource_group: $A, environment: $A }');
    const asked = (length: number) => ({ ref: 'main', variables: [{ key: 'A', value: 'x'.repeat(length) }] });
    const refused = await made.call('POST', '/pipeline', asked(1 << 20));
    expect([refused.status, refused.body.message]).toEqual([400, { base: ['Variables are too long'] }]);
    const long = asked((1 << 20) - 1);
    const { status, body } = await made.call('POST', '/pipeline', long);
    expect(status).toBe(201);
    const given = (await made.call('GET', `/pipelines/${body.id}/variables`)).body;
    expect(given).toMatchObject(long.variables);
    expect(await made.jobs(body.id)).toEqual({ a: 'failed' });
    const texts = async () => (await world.store.blobs.list(`texts/project/${padded(made.id)}/`)).keys;
    expect(await texts()).toHaveLength(1);
    expect((await made.call('DELETE', `/pipelines/${body.id}`)).status).toBe(204);
    await settled();
    expect(await texts()).toEqual([]);
  });

  test('knows configured variables in conditions, protected ones on protected refs alone', async () => {
    const made = await project('only it:\n  script: x\n  rules:\n    - if: $WANTED == "yes"\n');
    const variable = { key: 'WANTED', value: 'yes', protected: true };
    expect((await made.call('POST', '/variables', variable)).status).toBe(201);
    expect((await made.call('POST', '/repository/branches?branch=open&ref=main')).status).toBe(201);
    expect((await made.call('POST', '/pipeline', { ref: 'open' })).status).toBe(400);
    expect((await made.call('POST', '/pipeline', { ref: 'main' })).status).toBe(201);
  });

  test('says why it makes none', async () => {
    const made = await project();
    const absent = await made.call('POST', '/pipeline', { ref: 'nowhere' });
    expect([absent.status, absent.body.message]).toEqual([400, { base: ['Reference not found'] }]);
    await made.call('PUT', '', { ci_config_path: 'elsewhere.yml' });
    const missing = await made.call('POST', '/pipeline', { ref: 'main' });
    expect([missing.status, missing.body.message]).toEqual([400, { base: ['Missing CI config file'] }]);
  });

  test('lists pipelines by every filter and in every order', async () => {
    const made = await project();
    const [first] = await made.pipelines();
    await made.call('POST', '/pipeline', { ref: 'main' });
    await settled();
    await made.call('POST', `/pipelines/${first.id}/cancel`);
    const ids = async (query: string) => (await made.pipelines(query)).map(({ id }: { id: number }) => id);
    const [second] = await ids('?source=api');
    const both = [second, first.id];
    expect(await ids('')).toEqual(both);
    expect(await ids('?sort=asc')).toEqual(both.toReversed());
    expect(await ids('?status=canceled')).toEqual([first.id]);
    expect(await ids('?scope=finished')).toEqual([first.id]);
    expect(await ids('?scope=pending')).toEqual([second]);
    expect(await ids('?scope=branches')).toEqual([second]);
    expect(await ids('?scope=tags')).toEqual([]);
    expect(await ids(`?sha=${made.sha}&ref=main`)).toEqual(both);
    expect(await ids('?username=owner&yaml_errors=false')).toEqual(both);
    expect(await ids('?username=reporter')).toEqual([]);
    expect(await ids('?order_by=updated_at')).toEqual([first.id, second]);
    expect(await ids('?order_by=status&sort=asc')).toEqual([first.id, second]);
    expect(await ids('?order_by=user_id')).toHaveLength(2);
    expect(await ids('?order_by=ref')).toHaveLength(2);
    expect(await ids('?updated_after=2100-01-01')).toEqual([]);
    const latest = await made.call('GET', '/pipelines/latest');
    expect(latest.body.id).toBe(second);
    expect((await made.call('GET', `/pipelines/${second}/test_report`)).body.total_count).toBe(0);
  });

  test('lists pipelines and jobs by keyset, each once, with any filter that ids have an order under', async () => {
    const made = await project();
    for (let n = 0; n < 4; n++) await made.call('POST', '/pipeline', { ref: 'main' });
    await settled();
    const walk = async (list: string) => {
      const seen: number[] = [];
      for (let path: string | undefined = `${list}pagination=keyset&per_page=2`; path !== undefined; ) {
        const { status, headers, body } = await made.call('GET', path);
        expect([path, status]).toEqual([path, 200]);
        expect(headers.get('x-total')).toBeNull();
        seen.push(...body.map(({ id }: { id: number }) => id));
        path = /^<[^>]*\/projects\/\d+(\/[^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
      }
      return seen;
    };
    const ids = async (list: string) =>
      (await made.call('GET', `${list}per_page=100`)).body.map(({ id }: { id: number }) => id);
    for (const list of [
      ...['?', '?sort=asc&', '?ref=main&', `?sha=${made.sha}&sort=asc&`, '?scope=pending&', '?source=api&'],
      ...['?updated_after=2020-01-01&', '?updated_after=2020-01-01&sort=asc&', '?username=owner&'],
    ].map((query) => `/pipelines${query}`)) {
      expect([list, await walk(list)]).toEqual([list, await ids(list)]);
    }
    expect(await ids('/pipelines?')).toHaveLength(5);
    for (const list of ['/jobs?', '/jobs?scope[]=pending&', '/jobs?scope[]=pending&scope[]=created&'])
      expect([list, await walk(list)]).toEqual([list, await ids(list)]);
    expect(await ids('/jobs?')).toHaveLength(25);
    const status = async (path: string) => (await made.call('GET', path)).status;
    expect(await status('/jobs?pagination=keyset&page_token=x')).toBe(400);
    for (const query of ['order_by=ref', 'scope=branches', 'scope=tags'])
      expect([query, await status(`/pipelines?pagination=keyset&${query}`)]).toEqual([query, 405]);
  });

  test('shows jobs with their pipeline, commit and user', async () => {
    const made = await project();
    const { body } = await made.call('GET', '/jobs?scope[]=pending&scope[]=created');
    expect(body).toHaveLength(5);
    expect(body[0]).toMatchObject({ commit: { id: made.sha }, user: { username: 'owner' }, runner: null });
    expectSchema('job', body[0]);
    expect((await made.call('GET', '/jobs?scope[]=odd')).body).toEqual({
      error: 'scope does not have a valid value',
    });
    expect((await made.call('GET', `/jobs/${body[0].id}`)).body).toEqual(body[0]);
  });
});

test('a cancelled pipeline of many jobs is moved on once', async () => {
  const many = Array.from({ length: 60 }, (_, i) => `j${i}: {script: x}\n`).join('');
  const made = await project(many);
  const [{ id }] = await made.pipelines();
  const read = vi.spyOn(Jobs.prototype, 'all');
  expect((await made.call('POST', `/pipelines/${id}/cancel`)).body.status).toBe('canceled');
  await settled();
  // By who cancels it, and by the worker that follows.
  expect(read.mock.calls).toEqual([[id], [id]]);
  read.mockRestore();
  expect(new Set(Object.values(await made.jobs(id, '?per_page=100')))).toEqual(new Set(['canceled']));
});

test('a new commit cancels the pipeline of the one before, where no job has begun', async () => {
  const made = await project();
  const [{ id }] = await made.pipelines();
  await made.commit('next', { c: 'c' });
  expect((await made.call('GET', `/pipelines/${id}`)).body.status).toBe('canceled');
  const begun = await project();
  const [{ id: kept }] = await begun.pipelines();
  await begun.end(kept, 'compile', 'success');
  await begun.commit('next', { c: 'c' });
  expect((await begun.call('GET', `/pipelines/${kept}`)).body.status).toBe('running');
});

test('a status that is reported joins the pipeline of the push', async () => {
  const made = await project('one:\n  script: x\n');
  const [{ id }] = await made.pipelines();
  await made.call('POST', `/statuses/${made.sha}`, { state: 'failed', name: 'outside', ref: 'main' });
  expect(await made.pipelines()).toHaveLength(1);
  await made.end(id, 'one', 'success');
  expect((await made.call('GET', `/pipelines/${id}`)).body).toMatchObject({
    status: 'failed',
    source: 'push',
  });
});
