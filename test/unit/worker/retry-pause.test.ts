import type { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { worker } from '../../../functions/worker.ts';
import { awsClients } from '../../../lib/store/clients.ts';

const QUEUE = 'https://sqs.us-east-1.amazonaws.com/000000000000/maintenance';
const record = (receives: number) => ({
  messageId: `message-${receives}`,
  receiptHandle: `handle-${receives}`,
  body: JSON.stringify({ id: '01M7WY8PBTT03EGATMBCPV38NB', type: 'project.delete', body: {} }),
  attributes: { ApproximateReceiveCount: String(receives) },
});
const event = (...receives: number[]) => ({ Records: receives.map(record) }) as unknown as SQSEvent;
const context = { functionName: 'maintenance' } as Context;
const fails = worker(() => Promise.reject(new Error('not today')));

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function sent(answer: () => Promise<unknown> = async () => ({})) {
  const send = vi.spyOn(awsClients().sqs, 'send').mockImplementation(answer as () => Promise<never>);
  return () => send.mock.calls.map(([command]) => (command as ChangeMessageVisibilityCommand).input);
}

test('a message that failed is delivered again after a minute, then after twice as long, at most a quarter of an hour', async () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('WORKER_QUEUE_URL', QUEUE);
  const calls = sent();
  await fails(event(1, 2, 9), context);
  expect(calls()).toEqual(
    [
      [1, 60],
      [2, 120],
      [9, 900],
    ].map(([receives, VisibilityTimeout]) => ({
      QueueUrl: QUEUE,
      ReceiptHandle: `handle-${receives}`,
      VisibilityTimeout,
    })),
  );
});

test('a message that cannot be postponed is reported as failed all the same', async () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('WORKER_QUEUE_URL', QUEUE);
  sent(() => Promise.reject(new Error('throttled')));
  expect(await fails(event(1), context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
});

test('a message that was done is not postponed', async () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('WORKER_QUEUE_URL', QUEUE);
  const calls = sent();
  await worker(async () => {})(event(1), context);
  expect(calls()).toEqual([]);
});
