import { setTimeout as delay } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type PollOptions, pollQueue } from '../../local/poller.ts';
import { type Fixture, openFixture } from './sqs-fixture.ts';

/** For a busy machine. */
const PATIENT = { timeout: 60_000 };

const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

let fixture: Fixture;
let queue: string;
let dead: string;
let stop: AbortController;
let polling: Promise<void> | undefined;
let errors: unknown[];

beforeEach(async () => {
  fixture = await openFixture();
  dead = await fixture.create('dead');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn('dead'), maxReceiveCount: 3 });
  queue = await fixture.create('jobs', { RedrivePolicy, VisibilityTimeout: '60' });
  stop = new AbortController();
  errors = [];
});
afterEach(async () => {
  stop.abort();
  await polling;
  await fixture[Symbol.asyncDispose]();
});

function start(handler: PollOptions['handler'], more: Partial<PollOptions> = {}): void {
  polling = pollQueue({
    client: fixture.client,
    queueUrl: queue,
    queueArn: arn('jobs'),
    handler,
    onError: (error) => errors.push(error),
    signal: stop.signal,
    ...more,
  });
}

it('calls the handler with an event as Lambda does, and deletes messages that succeeded', async () => {
  const calls: [SQSEvent, Context][] = [];
  start(async (event, context) => void calls.push([event, context]), { functionName: 'worker', timeout: 5 });
  const MessageAttributes = {
    kind: { DataType: 'String', StringValue: 'fork' },
    bytes: { DataType: 'Binary', BinaryValue: Buffer.from('abc') },
  };
  const sent = await fixture.client.send(
    new SendMessageCommand({ QueueUrl: queue, MessageBody: '{"id":1}', MessageAttributes }),
  );
  await vi.waitFor(async () => expect(await fixture.counts(queue)).toEqual([0, 0, 0]), PATIENT);
  expect(calls[0]![0]).toEqual({
    Records: [
      {
        messageId: sent.MessageId,
        receiptHandle: expect.any(String),
        body: '{"id":1}',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: expect.any(String),
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        },
        messageAttributes: {
          kind: { stringValue: 'fork', stringListValues: [], binaryListValues: [], dataType: 'String' },
          bytes: { binaryValue: 'YWJj', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
        },
        md5OfBody: sent.MD5OfMessageBody,
        md5OfMessageAttributes: sent.MD5OfMessageAttributes,
        eventSource: 'aws:sqs',
        eventSourceARN: arn('jobs'),
        awsRegion: 'us-east-1',
      },
    ],
  });
  expect(calls[0]![1].functionName).toBe('worker');
  expect(calls[0]![1].getRemainingTimeInMillis()).toBeLessThanOrEqual(5_000);
});

it('reaches the handler when it is sent, not when a long poll ends', async () => {
  const latencies: number[] = [];
  let sentAt = 0;
  start(async () => void latencies.push(performance.now() - sentAt));
  for (let i = 0; i < 15; i++) {
    await delay(5);
    sentAt = performance.now();
    await fixture.send(queue, `message ${i}`);
    await vi.waitFor(() => expect(latencies).toHaveLength(i + 1), { ...PATIENT, interval: 1 });
  }
  expect(latencies.sort((a, b) => a - b)[7]).toBeLessThan(1000);
});

it('sends one long poll while the queue is empty', async () => {
  let requests = 0;
  const { handle } = fixture.sqs.requestHandler;
  fixture.sqs.requestHandler.handle = (...args) => {
    requests++;
    return handle(...args);
  };
  start(async () => {});
  await delay(300);
  expect(requests).toBe(1);
});

it('keeps the messages in batchItemFailures, until they become dead letters after maxReceiveCount', async () => {
  const seen: Record<string, number> = {};
  for (const body of ['good 1', 'bad', 'good 2']) await fixture.send(queue, body);
  start(
    async ({ Records }) => {
      for (const { body } of Records) seen[body] = (seen[body] ?? 0) + 1;
      const failures = Records.filter(({ body }) => body === 'bad');
      return { batchItemFailures: failures.map(({ messageId: itemIdentifier }) => ({ itemIdentifier })) };
    },
    { retryAfter: 0 },
  );
  await vi.waitFor(async () => expect(await fixture.counts(dead)).toEqual([1, 0, 0]), PATIENT);
  expect(seen).toEqual({ 'good 1': 1, bad: 3, 'good 2': 1 });
  expect(await fixture.counts(queue)).toEqual([0, 0, 0]);
  expect(await fixture.receive(dead)).toMatchObject([{ body: 'bad' }]);
});

it.each<[string, () => unknown]>([
  ['throws', () => Promise.reject(new Error('boom'))],
  ['names a message that is not in the batch', () => ({ batchItemFailures: [{ itemIdentifier: 'other' }] })],
  ['names an empty identifier', () => ({ batchItemFailures: [{ itemIdentifier: '' }] })],
  ['uses another key', () => ({ batchItemFailures: [{ id: 'x' }] })],
])('keeps the whole batch when the handler %s', async (_, answer) => {
  await fixture.send(queue, 'a');
  await fixture.send(queue, 'b');
  let calls = 0;
  start(async () => {
    calls++;
    return answer();
  });
  await vi.waitFor(() => expect(calls).toBe(1), PATIENT);
  stop.abort();
  await polling;
  expect(await fixture.counts(queue)).toEqual([0, 0, 2]);
});

it.each([
  ['nothing', undefined],
  ['null', null],
  ['an empty list', { batchItemFailures: [] }],
])('deletes the whole batch when the handler answers %s', async (_, answer) => {
  await fixture.send(queue, 'a');
  start(async () => answer);
  await vi.waitFor(async () => expect(await fixture.counts(queue)).toEqual([0, 0, 0]), PATIENT);
});

it('fills batches larger than one request', async () => {
  for (let i = 0; i < 25; i++) await fixture.send(queue, `${i}`);
  const sizes: number[] = [];
  start(async ({ Records }) => void sizes.push(Records.length), { batchSize: 20 });
  await vi.waitFor(async () => expect(await fixture.counts(queue)).toEqual([0, 0, 0]), PATIENT);
  expect(sizes).toEqual([20, 5]);
});

it('continues after errors of the queue', async () => {
  fixture.sqs.faults.inject({
    operation: 'ReceiveMessage',
    times: 2,
    fault: { kind: 'error', code: 'InternalFailure' },
  });
  let calls = 0;
  start(async () => void calls++);
  await fixture.send(queue, 'a');
  await vi.waitFor(() => expect(calls).toBe(1), PATIENT);
  expect(errors).toHaveLength(2);
});

it('ends after the call under way, and deletes the messages it processed', async () => {
  let started = false;
  await fixture.send(queue, 'a');
  start(async () => {
    started = true;
    await delay(60);
  });
  await vi.waitFor(() => expect(started).toBe(true), { ...PATIENT, interval: 1 });
  stop.abort();
  await polling;
  expect(await fixture.counts(queue)).toEqual([0, 0, 0]);
});

it('runs as many concurrent calls as configured', async () => {
  let running = 0;
  let most = 0;
  for (let i = 0; i < 12; i++) await fixture.send(queue, `${i}`);
  start(
    async () => {
      most = Math.max(most, ++running);
      await delay(10);
      running--;
    },
    { concurrency: 3, batchSize: 1 },
  );
  await vi.waitFor(async () => expect(await fixture.counts(queue)).toEqual([0, 0, 0]), PATIENT);
  expect(most).toBe(3);
});

it('messages for long work wait for each other, and no other message waits for them', async () => {
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const handled = async (event: SQSEvent) => {
    for (const { body } of event.Records) {
      begun.push(body);
      if (body === 'long 1') await first.promise;
    }
  };
  start(handled, { isLong: (body) => body.startsWith('long') });
  const send = (MessageBody: string) =>
    fixture.client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody }));
  for (const body of ['long 1', 'long 2', 'short 1', 'short 2']) await send(body);
  await vi.waitFor(() => expect(begun.toSorted()).toEqual(['long 1', 'short 1', 'short 2']), PATIENT);
  first.resolve();
  await vi.waitFor(async () => expect(await fixture.counts(queue)).toEqual([0, 0, 0]), PATIENT);
  expect(begun.at(-1)).toBe('long 2');
});

it('messages for long work whose turn has not come when the poller stops stay in the queue', async () => {
  const first = Promise.withResolvers<void>();
  const begun: string[] = [];
  const handled = async ({ Records: [record] }: SQSEvent) => {
    begun.push(record!.body);
    await first.promise;
  };
  start(handled, { isLong: () => true });
  for (const MessageBody of ['long 1', 'long 2'])
    await fixture.client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody }));
  await vi.waitFor(async () => expect((await fixture.counts(queue))[2]).toBe(2), PATIENT);
  stop.abort();
  first.resolve();
  await polling;
  expect(begun).toEqual(['long 1']);
  expect((await fixture.counts(queue))[2]).toBe(1);
});
