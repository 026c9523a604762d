import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import '../../functions/deps.ts';
import { worker } from '../../functions/worker.ts';
import { DomainError } from '../../lib/domain/errors.ts';
import { warn } from '../../lib/git/warnings.ts';
import { rawFunction } from '../../lib/http/function.ts';
import { message, messageText, parseMessage } from '../../lib/store/outbox/outbox.ts';
import { annotate, annotations, bound, correlated, requestId } from '../../lib/telemetry/correlation.ts';
import { type Line, log, logTo } from '../../lib/telemetry/log.ts';
import { type Counts, measure } from '../../lib/telemetry/metrics.ts';
import { plainError } from '../../lib/telemetry/plain-error.ts';
import { readable } from '../../local/readable-log.ts';
import { embedded } from '../harness/embedded-metrics.ts';

let lines: Line[];
beforeEach(() => {
  lines = [];
  logTo((line) => void lines.push(line));
});
afterEach(() => vi.unstubAllEnvs());

describe('correlation', () => {
  test('is separate for concurrent requests', async () => {
    const ids = await Promise.all(
      ['a', 'b'].map((id) =>
        correlated(id, async () => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          return requestId();
        }),
      ),
    );
    expect(ids).toEqual(['a', 'b']);
    expect(requestId()).toBeUndefined();
    expect(() => annotate({ lost: true })).not.toThrow();
  });

  test('can be bound to functions that are called later', () => {
    const later = correlated('a', () => bound(() => requestId()));
    expect(correlated('b', () => later())).toBe('a');
  });

  test('adds the request id to outbox messages; messages of an earlier release have none', () => {
    const promised = correlated('a', () => message('maintenance', 'x', { n: 1 }));
    expect(parseMessage(messageText(promised))).toEqual({
      id: promised.id,
      type: 'x',
      body: { n: 1 },
      requestId: 'a',
    });
    const old = '{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","type":"x","body":{}}';
    expect(parseMessage(old)).toEqual(JSON.parse(old));
    expect(messageText(message('maintenance', 'x', {}))).not.toContain('requestId');
  });
});

describe('log lines', () => {
  test.each([
    ['info', ['INFO', 'WARN', 'ERROR']],
    ['warn', ['WARN', 'ERROR']],
    ['error', ['ERROR']],
    ['silent', []],
    ['loud', ['WARN', 'ERROR']],
  ])('with LOG_LEVEL=%s are %j', (level, told) => {
    vi.stubEnv('LOG_LEVEL', level);
    for (const each of ['info', 'warn', 'error'] as const) log(each, 'x');
    expect(lines.map((line) => line.level)).toEqual(told);
  });

  test('have the fields of their own request, with many in progress', async () => {
    await Promise.all(
      ['a', 'b', 'c'].map((id) =>
        correlated(id, async () => {
          annotate({ user: id });
          log('warn', 'begun', annotations());
          await new Promise((resolve) => setTimeout(resolve, 2));
          log('warn', 'ended', { ...annotations(), empty: undefined });
        }),
      ),
    );
    log('warn', 'of nobody');
    expect(lines).toHaveLength(7);
    for (const { timestamp, ...line } of lines) {
      expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(60_000);
      const own = line.requestId === undefined ? {} : { requestId: line.requestId, user: line.requestId };
      const { level, message } = line;
      expect(line).toEqual({ level, message, service: 'Lemnos', ...own });
    }
    expect(lines.slice(0, 3).map((line) => line.requestId)).toEqual(['a', 'b', 'c']);
  });

  test('contain errors without rows and requests, and a limited chain of causes', () => {
    const odd = Object.assign(new TypeError('it is s3cret'), {
      row: 's3cret',
    });
    odd.cause = odd;
    log('error', 'odd', { error: plainError(odd, (text) => text.replaceAll('s3cret', '***')) });
    expect(lines[0]!['error']).toMatchObject({
      name: 'TypeError',
      message: 'it is ***',
      location: expect.stringMatching(/:\d+$/),
      // The stack of the error itself, not of its copy.
      stack: expect.stringMatching(/^TypeError: it is \*{3}\n +at .*telemetry\.test\.ts/),
      cause: { name: 'TypeError', cause: { cause: { cause: { name: 'TypeError' } } } },
    });
    expect(JSON.stringify(lines)).not.toContain('s3cret');
    expect(JSON.stringify(lines).match(/"location"/g)).toHaveLength(5);
    log('error', 'odder', { error: plainError('thrown as it is') });
    expect(lines[1]!['error']).toMatchObject({ name: 'string', message: 'thrown as it is' });
  });

  test('of the Git engine go to the same log', () => {
    const told = vi.spyOn(console, 'warn');
    correlated('r-1', () => warn('derived file ignored', { kind: 'tips' }));
    expect(told).not.toHaveBeenCalled();
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'WARN',
        requestId: 'r-1',
        message: 'derived file ignored',
        kind: 'tips',
      }),
    ]);
  });

  test('for a terminal contain the same as text', () => {
    const head = {
      level: 'INFO',
      timestamp: '2026-01-02T03:04:05.678Z',
      service: 'Lemnos',
    } as const;
    const request = {
      method: 'GET',
      route: '/projects/:id',
      status: 200,
      ms: 12,
      area: 'projects',
      cold_start: true,
    };
    expect(readable({ ...head, message: 'request', requestId: 'r', ...request })).toBe(
      '03:04:05 INFO  request GET /projects/:id 200 12 ms  requestId=r area=projects cold_start=true',
    );
    expect(readable({ ...head, level: 'ERROR', message: 'odd', error: { name: 'E' } })).toBe(
      '03:04:05 ERROR odd  error={"name":"E"}',
    );
    expect(readable({ ...head, message: 'plain' })).toBe('03:04:05 INFO  plain');
  });
});

interface Told {
  readonly namespace: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly requestId: unknown;
}

describe('metrics', () => {
  let told: Told[];
  beforeEach(() => {
    told = [];
    vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Forge');
    vi.stubEnv('ENDPOINT_METRICS', '1');
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      const document = JSON.parse(String(text));
      expect(String(text).endsWith('\n')).toBe(true);
      expect(embedded(document), JSON.stringify(embedded.errors)).toBe(true);
      expect(Math.abs(document._aws.Timestamp - Date.now())).toBeLessThan(60_000);
      expect(document._aws.CloudWatchMetrics).toHaveLength(1);
      const [{ Namespace, Dimensions, Metrics }] = document._aws.CloudWatchMetrics;
      // Values are at the root: dimensions are strings, metrics numbers.
      for (const set of Dimensions as string[][])
        told.push({
          namespace: Namespace,
          dimensions: Object.fromEntries(set.map((name) => [name, document[name]])),
          metrics: Object.fromEntries(
            (Metrics as { Name: string }[]).map(({ Name }) => [Name, document[Name]]),
          ),
          requestId: document.requestId,
        });
      for (const { dimensions, metrics } of told) {
        for (const value of Object.values(dimensions)) expect(value).toMatch(/^[\x20-\x7e]{1,1024}$/);
        for (const value of Object.values(metrics)) expect(value).toEqual(expect.any(Number));
      }
      return true;
    });
  });
  afterEach(() => vi.restoreAllMocks());

  const of = (dimensions: object, metrics: object) => ({
    namespace: 'Forge',
    dimensions: { service: 'Lemnos', ...dimensions },
    metrics,
    requestId: 'r-1',
  });

  async function ask(
    respond: () => Response,
    { method = 'GET', route }: { method?: string; route?: string } = {},
  ) {
    const { fetch } = rawFunction(
      async () => {
        if (route !== undefined) annotate({ route });
        return respond();
      },
      { area: 'here' },
    );
    const request = new Request('http://lemnos.test/x/one?private_token=glpat-secret', { method });
    const answer = await fetch(request, {
      sourceIp: '203.0.113.7',
      baseUrl: 'http://lemnos.test',
      requestId: 'r-1',
    });
    await answer.text();
    return answer;
  }
  const answers: [string, () => Response, Counts][] = [
    ['a success', () => new Response('x'), {}],
    [
      'a limit',
      () => {
        throw new DomainError('too-many-requests', 'later');
      },
      { RateLimited: 1 },
    ],
    [
      'a failure',
      () => {
        throw new Error('broken');
      },
      { ServerErrors: 1 },
    ],
    ['a refusal', () => new Response('x', { status: 404 }), {}],
  ];

  test.each(answers)('%s is counted by area only if an operator should act', async (_, respond, counts) => {
    vi.stubEnv('LOG_LEVEL', 'info');
    vi.stubEnv('ENDPOINT_METRICS', undefined);
    const { status } = await ask(respond, { route: '/x/:id' });
    expect(told).toEqual(Object.keys(counts).length === 0 ? [] : [of({ area: 'here' }, counts)]);
    const [line, ...more] = lines.filter((each) => each.message === 'request');
    expect(more).toEqual([]);
    expect(line).toMatchObject({ requestId: 'r-1', area: 'here', route: '/x/:id', status, ...counts });
    expect(JSON.stringify(lines)).not.toContain('glpat-secret');
  });

  test.each(answers)('%s is counted and timed by endpoint', async (_, respond, counts) => {
    await ask(respond, { route: '/x/:id' });
    const endpoint = { area: 'here', endpoint: 'GET /x/:id' };
    expect(told).toEqual([
      ...(Object.keys(counts).length === 0 ? [] : [of({ area: 'here' }, counts)]),
      of(endpoint, { ...counts, Latency: expect.any(Number) }),
    ]);
  });

  test('HEAD counts as GET, and unknown endpoints have no metric of their own', async () => {
    await ask(() => new Response(), { method: 'HEAD', route: '/x/:id' });
    await ask(() => new Response('', { status: 404 }));
    for (const method of ['OPTIONS', 'PROPFIND', 'ANY-THING'])
      await ask(() => new Response('', { status: 401 }), { method, route: '/x/:id' });
    expect(told.map(({ dimensions }) => dimensions['endpoint'])).toEqual(['GET /x/:id']);
  });

  test('without a namespace no metrics are written', async () => {
    vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', undefined);
    for (const [, respond] of answers) await ask(respond, { route: '/x/:id' });
    expect(told).toEqual([]);
  });

  test('are written whatever the log level', async () => {
    vi.stubEnv('LOG_LEVEL', 'silent');
    for (const [, respond] of answers) await ask(respond, { route: '/x/:id' });
    expect(lines).toEqual([]);
    expect(told).toHaveLength(6);
  });

  test('of concurrent requests are separate', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        correlated(`r-${i}`, async () => {
          await new Promise((resolve) => setTimeout(resolve, i % 3));
          measure('here', { endpoint: `GET /${i}` }, i, {});
        }),
      ),
    );
    expect(told).toHaveLength(20);
    for (const { dimensions, metrics, requestId } of told) {
      const { Latency } = metrics;
      expect({ dimensions, requestId }).toEqual({
        dimensions: { service: 'Lemnos', area: 'here', endpoint: `GET /${Latency}` },
        requestId: `r-${Latency}`,
      });
    }
  });

  const record = (messageId: string, body: string) => ({ messageId, body, attributes: {} });
  const context = { functionName: 'mail', awsRequestId: 'i' } as Context;

  test('a failed job gives one line, and is retried; the others are done', async () => {
    const failing = worker(
      async ({ type }) => {
        if (type === 'mail.fail') throw new Error('the secret text');
      },
      () => ({ error: 'kind' }),
    );
    const Records = ['mail.send', 'mail.fail', 'mail.send'].map((type, i) =>
      record(`m-${i}`, messageText(correlated('r-1', () => message('mail', type, {})))),
    );
    expect(await failing({ Records } as SQSEvent, context)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm-1' }],
    });
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'ERROR',
        area: 'mail',
        function_request_id: 'i',
        job: 'mail.fail',
        error: 'kind',
        JobsFailed: 1,
      }),
    ]);
    const job = (name: string, metrics: object) =>
      of({ area: 'mail', job: name }, { ...metrics, Latency: expect.any(Number) });
    expect(told).toEqual([
      job('mail.send', {}),
      of({ area: 'mail' }, { JobsFailed: 1 }),
      job('mail.fail', { JobsFailed: 1 }),
      job('mail.send', {}),
    ]);
    expect(JSON.stringify([lines, told])).not.toContain('secret');
  });

  test('concurrent batches are separate, also when one fails completely', async () => {
    const slow = worker(async ({ body }) => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (body['fails'] === true) throw new Error('odd');
    });
    const batch = (name: string, fails: boolean[]) =>
      slow(
        {
          Records: fails.map((each, i) =>
            record(`${name}${i}`, messageText(message('mail', 'x', { fails: each }))),
          ),
        } as SQSEvent,
        context,
      );
    expect(
      await Promise.all([batch('a', [true, true]), batch('b', [false, true, false]), batch('c', [])]),
    ).toEqual([
      { batchItemFailures: [{ itemIdentifier: 'a0' }, { itemIdentifier: 'a1' }] },
      { batchItemFailures: [{ itemIdentifier: 'b1' }] },
      { batchItemFailures: [] },
    ]);
    // A foreign message body has no kind.
    await slow({ Records: [record('d', '{}')] } as SQSEvent, context);
    expect(told.at(-1)).toMatchObject({ dimensions: { area: 'mail' }, metrics: { JobsFailed: 1 } });
  });
});
