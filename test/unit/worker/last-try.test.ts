import type { Context, SQSEvent } from 'aws-lambda';
import { expect, test, vi } from 'vitest';
import { handler as ingest } from '../../../functions/ingest.ts';
import { handler as maintenance } from '../../../functions/maintenance.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { runIngestJob } from '../../../lib/domain/worker/dispatch-ingest.ts';

vi.mock('../../../lib/domain/worker/dispatch.ts', () => ({ runJob: vi.fn() }));
vi.mock('../../../lib/domain/worker/dispatch-ingest.ts', () => ({ runIngestJob: vi.fn() }));
vi.mock('../../../functions/deps.ts', () => ({ deps: () => ({}) }));
vi.mock('../../../functions/deps-with-secrets.ts', () => ({ depsWithSecrets: () => ({}) }));

test('a job of the queue maintenance is told when the run of its worker ends', async () => {
  const body = JSON.stringify({ id: '01JD0000000000000000000001', type: 'any', body: {} });
  const record = { messageId: 'm', receiptHandle: 'h', body, attributes: { ApproximateReceiveCount: '1' } };
  const before = Date.now();
  const context = { getRemainingTimeInMillis: () => 400_000 } as Context;
  await maintenance({ Records: [record] } as unknown as SQSEvent, context);
  const [, , delivery] = vi.mocked(runJob).mock.calls.at(-1)!;
  expect(delivery!.stopsAt! - before).toBeGreaterThanOrEqual(400_000);
  expect(delivery!.stopsAt! - Date.now()).toBeLessThanOrEqual(400_000);
  vi.mocked(runJob).mockClear();
});

test.each([
  ['maintenance', maintenance, runJob],
  ['ingest', ingest, runIngestJob],
] as const)(
  'a job of the queue %s is told at the fifth delivery that it is its last try',
  async (_, handler, run) => {
    const job = { id: '01JD0000000000000000000001', type: 'any', body: {} };
    const delivered = (times: number) => ({
      messageId: 'm',
      receiptHandle: 'h',
      body: JSON.stringify(job),
      attributes: { ApproximateReceiveCount: String(times) },
    });
    const Records = [1, 4, 5, 6].map(delivered);
    await handler({ Records } as unknown as SQSEvent, {} as Context);
    expect(vi.mocked(run).mock.calls.map(([, , delivery]) => delivery)).toEqual(
      [false, false, true, true].map((lastDelivery) => ({ lastDelivery })),
    );
  },
);
