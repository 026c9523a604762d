import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { areasOf } from '../../../functions/areas.ts';
import { handler as sweep } from '../../../functions/outbox-sweep.ts';
import { worker } from '../../../functions/worker.ts';
import { SLICE_MS } from '../../../lib/domain/worker/run-job.ts';

const swept = vi.hoisted(() => vi.fn());
vi.mock('../../../functions/deps.ts', () => ({
  deps: () => ({ store: { outbox: { sweep: swept } }, now: () => new Date() }),
}));

afterEach(() => swept.mockReset());

test.each(areasOf('worker'))('a batch of $name ends before its function does', ({ batchSize, timeout }) => {
  expect((batchSize * SLICE_MS) / 1000).toBeLessThanOrEqual(timeout);
});

test('messages for which no time is left are handed back without being begun', async () => {
  let left = 2 * SLICE_MS;
  const begun: string[] = [];
  const record = (messageId: string) => ({
    messageId,
    body: JSON.stringify({ id: messageId, type: 'thing.walk', body: {} }),
    attributes: { ApproximateReceiveCount: '1' },
  });
  const work = worker(async ({ id }) => {
    begun.push(id);
    left = SLICE_MS - 1;
  });
  const context = { functionName: 'maintenance', getRemainingTimeInMillis: () => left } as Context;
  const event = { Records: ['a', 'b', 'c'].map(record) } as unknown as SQSEvent;
  expect(await work(event, context)).toEqual({
    batchItemFailures: [{ itemIdentifier: 'b' }, { itemIdentifier: 'c' }],
  });
  expect(begun).toEqual(['a']);
});

test('the sweep sends a backlog page by page, and stops when nothing is left', async () => {
  swept.mockResolvedValueOnce({ sent: 1000, more: true });
  swept.mockResolvedValueOnce({ sent: 1000, more: true });
  swept.mockResolvedValueOnce({ sent: 7, more: false });
  expect(await sweep({}, { getRemainingTimeInMillis: () => 50_000 })).toEqual({ sent: 2007, more: false });
  expect(swept).toHaveBeenCalledTimes(3);
});

test('the sweep begins no page when its time is nearly over', async () => {
  let left = 50_000;
  swept.mockImplementation(async () => {
    left -= 20_000;
    return { sent: 1000, more: true };
  });
  expect(await sweep({}, { getRemainingTimeInMillis: () => left })).toEqual({ sent: 2000, more: true });
});
