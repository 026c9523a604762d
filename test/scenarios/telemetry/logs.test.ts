import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { apiDocument } from '../../../lib/api/all.ts';
import { searchEndpoints } from '../../../lib/api/search/endpoints.ts';
import { apiFunction } from '../../../lib/http/function.ts';
import { embedded } from '../../harness/embedded-metrics.ts';
import { LogLines } from '../../harness/log-lines.ts';
import { MetricLines } from '../../harness/metric-lines.ts';
import { type Service, startService } from '../../harness/service.ts';
import { pushedProject } from '../repository/pushed-project.ts';

let service: Service;
let lines: LogLines;
let metrics: MetricLines;
let owner: Awaited<ReturnType<Service['user']>>;
let project: Awaited<ReturnType<typeof pushedProject>>;

beforeAll(async () => {
  lines = LogLines.watch();
  metrics = MetricLines.watch('Lemnos');
  service = await startService();
  owner = await service.user('owner');
  project = await pushedProject(service, owner, 'watched', (git) => {
    git.feed(commit('content\n'), 'fast-import', '--quiet');
  });
});
afterAll(async () => {
  metrics.stop();
  await service.stop();
});

/** For `git fast-import`. */
const commit = (content: string, parent = '') =>
  `commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 2\nm\n${parent}` +
  `M 100644 inline file.txt\ndata ${content.length}\n${content}\n`;

/** A request, its id, and the lines under it. */
async function ask(method: string, path: string, options: Parameters<Service['call']>[2] = {}) {
  const answer = await service.call(method, path, options);
  const id = answer.headers.get('x-request-id')!;
  return { id, answer, told: lines.of(id) };
}

describe('the log of a request', () => {
  test('is one line with route, not path, caller and outcome', async () => {
    const { told, id } = await ask('GET', `/projects/${project.id}?license=true`, { token: owner.token });
    expect(told).toEqual([
      {
        level: 'INFO',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/),
        message: 'request',
        service: 'Lemnos',
        requestId: id,
        area: 'projects',
        function_request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        route: '/projects/:id',
        user: owner.id,
        method: 'GET',
        status: 200,
        ms: expect.any(Number),
      },
    ]);
  });

  test('has the id that the caller sent beside its own, which nobody can choose', async () => {
    const options = { token: owner.token, headers: { 'X-Request-Id': 'trace-1.a:b@c' } };
    const [first, second] = [await ask('GET', '/user', options), await ask('GET', '/user', options)];
    expect(first.id).toMatch(/^[0-9A-Z]{26}$/);
    expect(second.id).not.toBe(first.id);
    for (const { id, told } of [first, second])
      expect(told).toEqual([
        expect.objectContaining({ requestId: id, client_request_id: 'trace-1.a:b@c', status: 200 }),
      ]);
  });

  test.each(['a b', '<script>', '"', 'x'.repeat(129)])(
    'leaves out an id that is unsafe: %s',
    async (given) => {
      const { told } = await ask('GET', '/user', { token: owner.token, headers: { 'X-Request-Id': given } });
      expect(told).toEqual([expect.objectContaining({ status: 200 })]);
      expect(told[0]).not.toHaveProperty('client_request_id');
    },
  );

  test('marks the cold start of its function', async () => {
    // Loaded here: the host's own may have been asked by another file that shares this process.
    const search = apiFunction({ endpoints: searchEndpoints, deps });
    vi.stubEnv('AREA', 'search');
    onTestFinished(() => void vi.unstubAllEnvs());
    const told = async () => {
      const asked = new Request(`${service.url}/api/v4/search?scope=projects&search=watched`, {
        headers: { 'PRIVATE-TOKEN': owner.token },
      });
      const answer = await search.fetch(asked, { sourceIp: '127.0.0.1', baseUrl: service.url });
      await answer.text();
      return lines.of(answer.headers.get('x-request-id')!);
    };
    const [first, second] = [await told(), await told()];
    expect(first[0]).toMatchObject({ area: 'search', status: 200, cold_start: true });
    expect(second[0]).toMatchObject({ area: 'search', status: 200 });
    expect(second[0]).not.toHaveProperty('cold_start');
  });

  test.each([
    ['GET', '/projects/999999', { status: 404, route: '/projects/:id' }],
    ['POST', '/projects', { status: 400, route: '/projects' }],
    ['GET', '/nowhere', { status: 404, area: 'meta' }],
    ['PATCH', '/projects/1', { status: 405, area: 'projects' }],
    ['GET', '/user', { status: 200, route: '/user', user: expect.any(Number) }],
  ])('classifies %s %s', async (method, path, expected) => {
    const { told } = await ask(method, path, { token: owner.token });
    expect(told).toEqual([
      expect.objectContaining({ level: 'INFO', message: 'request', method, ...expected }),
    ]);
  });

  test('has no user for a failed authentication', async () => {
    for (const token of [undefined, 'glpat-nobody-has-this-one']) {
      const { told } = await ask('GET', '/user', token === undefined ? {} : { token });
      expect(told).toEqual([expect.objectContaining({ status: 401, route: '/user' })]);
      expect(told[0]).not.toHaveProperty('user');
    }
  });

  test('names both users of a sudo request', async () => {
    const { told } = await ask('GET', '/user', { token: service.rootToken, headers: { Sudo: 'owner' } });
    expect(told[0]).toMatchObject({ user: owner.id, sudoer: 1 });
  });

  test('of a streamed answer is written at its end with the number of bytes', async () => {
    const { told, answer } = await ask('GET', `${project.repository}/archive.tar`, { token: owner.token });
    expect(answer.status).toBe(200);
    expect(told).toEqual([
      expect.objectContaining({ route: expect.stringContaining('/archive'), bytes: expect.any(Number) }),
    ]);
    expect(told[0]!['bytes']).toBeGreaterThan(512);
  });

  test('covers Git, with the result of a push', async () => {
    const remote = new URL(`${service.url}/owner/watched.git`);
    remote.username = 'owner';
    remote.password = owner.token;
    project.git.feed(commit('more\n', 'from refs/heads/main^0\n'), 'fast-import', '--quiet');
    await promisify(execFile)(
      'git',
      ['-c', 'http.extraHeader=X-Request-Id: pushed', 'push', '--quiet', remote.href, 'main'],
      { cwd: project.git.directory, env: { PATH: process.env['PATH'], HOME: project.git.directory } },
    );
    const told = () => lines.all.filter((line) => line['client_request_id'] === 'pushed');
    const received = () => told().find(({ route }) => route === '/:repository/git-receive-pack');
    await expect.poll(received).toBeDefined();
    expect(told().map(({ route, status, area, purpose }) => [area, purpose, route, status])).toEqual(
      expect.arrayContaining([
        ['git', 'write', '/:repository/info/refs', 200],
        ['git', 'write', '/:repository/git-receive-pack', 200],
      ]),
    );
    expect(received()).toMatchObject({
      user: owner.id,
      bytes: expect.any(Number),
    });
  });
});

describe('one correlation id', () => {
  test('follows a request through its workers and the messages they enqueue', async () => {
    const group = await service.call('POST', '/groups', {
      token: owner.token,
      json: { name: 'Doomed', path: 'doomed' },
    });
    await service.call('POST', '/projects', {
      token: owner.token,
      json: { name: 'inside', namespace_id: group.body.id },
    });
    const { id } = await ask('DELETE', `/groups/${group.body.id}`, { token: owner.token });
    const told = await lines.until(id, (all) =>
      ['group.delete', 'project.delete'].every((kind) => all.some(({ job }) => job === kind)),
    );
    expect(told.map(({ message, area, job, outcome }) => ({ message, area, job, outcome }))).toEqual(
      expect.arrayContaining([
        { message: 'request', area: 'groups', job: undefined, outcome: undefined },
        { message: 'job', area: 'maintenance', job: 'group.delete', outcome: 'done' },
        { message: 'job', area: 'maintenance', job: 'project.delete', outcome: 'done' },
      ]),
    );
    expect(told.find(({ message }) => message === 'job')).toMatchObject({
      messageId: expect.stringMatching(/^[0-9A-Z]{26}$/),
      receives: 1,
      age: expect.any(Number),
      ms: expect.any(Number),
    });
  });

  test('is kept when the sweep sends a message, and the sweep is logged', async () => {
    const heal = service.host.sqs.faults.inject({
      operation: 'SendMessageBatch',
      on: 'forks',
      fault: { kind: 'error', code: 'RequestThrottled' },
      times: Number.POSITIVE_INFINITY,
    });
    const { id, answer } = await ask('POST', `/projects/${project.id}/fork`, {
      token: owner.token,
      json: { name: 'copy', path: 'copy' },
    });
    expect(answer.status).toBe(201);
    expect(lines.of(id)).toContainEqual(
      expect.objectContaining({ level: 'WARN', message: 'outbox delivery failed' }),
    );
    heal();
    await service.host.invoke('outbox-sweep', { olderThan: 0 });
    await lines.until(id, (all) => all.some(({ area, outcome }) => area === 'forks' && outcome === 'done'));
    expect(lines.all).toContainEqual(
      expect.objectContaining({ message: 'swept', area: 'outbox-sweep', MessagesSwept: expect.any(Number) }),
    );
  });

  test('is created by a message that has none', async () => {
    const id = '01KAKAKAKAKAKAKAKAKAKAKAKA';
    const body = JSON.stringify({ id, type: 'nothing.we.know', body: {} });
    const records = [{ messageId: 'm-1', body, attributes: { ApproximateReceiveCount: '2' } }];
    expect(await service.host.invoke('maintenance', { Records: records })).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm-1' }],
    });
    expect(lines.of(id)).toEqual([
      expect.objectContaining({
        level: 'ERROR',
        message: 'job',
        job: 'nothing.we.know',
        messageId: id,
        receives: 2,
        outcome: 'failed',
        error: expect.objectContaining({ name: 'Error', message: 'no job is called nothing.we.know' }),
        JobsFailed: 1,
      }),
    ]);
  });
});

test('metrics have declared endpoints, Git requests and jobs as dimensions, whatever was requested', () => {
  const declared = Object.entries(apiDocument().paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  for (const line of metrics.all) expect(embedded(line), JSON.stringify([line, embedded.errors])).toBe(true);
  const told = new Set(
    metrics.all.flatMap(({ endpoint }) => (endpoint === undefined ? [] : String(endpoint))),
  );
  const git = [...told].filter((endpoint) => endpoint.includes('/:repository/'));
  expect(git.sort()).toEqual(['GET /:repository/info/refs', 'POST /:repository/git-receive-pack']);
  for (const endpoint of told) if (!git.includes(endpoint)) expect(declared).toContain(endpoint);
  for (const endpoint of ['GET /projects/:id', 'POST /projects', 'DELETE /groups/:id', 'GET /user'])
    expect(told).toContain(endpoint);
  // As many samples as requests: each line of a request that an endpoint answered has one of its own.
  for (const [name, kind] of [
    ['endpoint', 'request'],
    ['job', 'job'],
  ] as const) {
    const written = lines.all.filter(
      ({ message, route, job }) => message === kind && (route ?? job) !== undefined,
    );
    const samples = metrics.all.filter((line) => line[name] !== undefined && line['Latency'] !== undefined);
    expect(samples.map(({ requestId }) => requestId).sort()).toEqual(
      written.map(({ requestId }) => requestId).sort(),
    );
    expect(samples.length).toBeGreaterThan(5);
  }
  const failed = metrics.all.filter(({ JobsFailed }) => JobsFailed !== undefined);
  expect(failed.map(({ area, job }) => [area, job])).toEqual([
    ['maintenance', undefined],
    ['maintenance', 'nothing.we.know'],
  ]);
  expect(
    metrics.all.some(({ MessagesSwept, area }) => MessagesSwept !== undefined && area === 'outbox-sweep'),
  ).toBe(true);
});

test('no log line contains a secret', async () => {
  const password = 'a-Password-of-nobody-1';
  const reset = await ask('POST', '/users', {
    token: service.rootToken,
    json: { username: 'new', name: 'New', email: 'new@example.com', password, skip_confirmation: true },
  });
  expect(reset.answer.status).toBe(201);
  await ask('GET', `/projects?private_token=${owner.token}`);
  await ask('GET', `/user?access_token=wrong-${owner.token}`);
  await service.call('PUT', '/user/status', { token: owner.token, form: `private_token=${owner.token}` });
  for (const secret of [owner.token, service.rootToken, password, 'new@example.com'])
    expect(lines.text).not.toContain(secret);
});
