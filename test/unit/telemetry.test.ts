import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { worker } from '../../functions/worker.ts';
import { DomainError } from '../../lib/domain/errors.ts';
import { rawFunction } from '../../lib/http/function.ts';
import { message, messageText, parseMessage } from '../../lib/store/outbox.ts';
import { annotate, bound, correlated, requestId } from '../../lib/telemetry/correlation.ts';
import { type Line, log, logTo } from '../../lib/telemetry/log.ts';
import { counted } from '../../lib/telemetry/metrics.ts';
import { readable } from '../../local/readable-log.ts';

let lines: Line[];
beforeEach(() => {
  lines = [];
  logTo((line) => void lines.push(line));
});
afterEach(() => vi.unstubAllEnvs());

describe('what is under way', () => {
  test('keeps to itself, whatever else runs', async () => {
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

  test('reaches what somebody else calls later', () => {
    const later = correlated('a', () => bound(() => requestId()));
    expect(correlated('b', () => later())).toBe('a');
  });

  test('gives its id to what it promises, and a message of an earlier release has none', () => {
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

describe('lines', () => {
  test.each([
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
    ['loud', ['warn', 'error']],
  ])('with LOG_LEVEL=%s are %j', (level, told) => {
    vi.stubEnv('LOG_LEVEL', level);
    for (const each of ['info', 'warn', 'error'] as const) log(each, 'x');
    expect(lines.map((line) => line.level)).toEqual(told);
  });

  test('for a terminal say the same in words', () => {
    const head = { level: 'info', time: '2026-01-02T03:04:05.678Z' } as const;
    const request = {
      method: 'GET',
      route: '/projects/:id',
      status: 200,
      ms: 12,
      area: 'projects',
      cold: true,
    };
    expect(readable({ ...head, message: 'request', requestId: 'r', ...request })).toBe(
      '03:04:05 info  request GET /projects/:id 200 12 ms  requestId=r area=projects cold=true',
    );
    expect(readable({ ...head, level: 'error', message: 'odd', error: { name: 'E' } })).toBe(
      '03:04:05 error odd  error={"name":"E"}',
    );
    expect(readable({ ...head, message: 'plain' })).toBe('03:04:05 info  plain');
  });
});

describe('metrics', () => {
  test('are in the embedded format, one per area', () => {
    vi.stubEnv('METRICS_NAMESPACE', 'Forge');
    expect(counted({ ServerErrors: 1 })).toEqual({
      ServerErrors: 1,
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: 'Forge',
            Dimensions: [['area']],
            Metrics: [{ Name: 'ServerErrors', Unit: 'Count' }],
          },
        ],
      },
    });
    expect(counted({})).toEqual({});
  });

  test.each<[string, () => Response, Record<string, number>]>([
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
  ])('%s is counted only if somebody should look', async (_, respond, counts) => {
    vi.stubEnv('LOG_LEVEL', 'info');
    vi.stubEnv('METRICS_NAMESPACE', 'Forge');
    const { fetch } = rawFunction(async () => respond(), { area: 'here' });
    const answer = await fetch(new Request('http://lemnos.test/x?private_token=glpat-secret'), {
      sourceIp: '203.0.113.7',
      baseUrl: 'http://lemnos.test',
      requestId: 'r-1',
    });
    await answer.text();
    const [line, ...more] = lines.filter((each) => each.message === 'request');
    expect(more).toEqual([]);
    expect(line).toMatchObject({ requestId: 'r-1', area: 'here', status: answer.status, ...counts });
    expect('_aws' in line!).toBe(Object.keys(counts).length > 0);
    expect(JSON.stringify(lines)).not.toContain('glpat-secret');
  });

  test('a job that fails is one line, told as its worker says', async () => {
    vi.stubEnv('METRICS_NAMESPACE', 'Forge');
    const failing = worker(
      async () => {
        throw new Error('the secret text');
      },
      () => ({ error: 'kind' }),
    );
    const record = { messageId: 'm', body: messageText(message('mail', 'mail.send', {})), attributes: {} };
    const context = { functionName: 'mail', awsRequestId: 'i' };
    await failing({ Records: [record] } as never, context as never);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        area: 'mail',
        job: 'mail.send',
        error: 'kind',
        JobsFailed: 1,
      }),
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});
