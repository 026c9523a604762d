import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { SLICE_MS } from '../lib/domain/worker/run-job.ts';
import { awsClients } from '../lib/store/clients.ts';
import { type OutboxMessage, parseMessage, writtenAt } from '../lib/store/outbox/outbox.ts';
import { postpone } from '../lib/store/outbox/queues.ts';
import { annotate, annotations, correlated } from '../lib/telemetry/correlation.ts';
import { type Level, log } from '../lib/telemetry/log.ts';
import { type Counts, measure } from '../lib/telemetry/metrics.ts';
import { plainError } from '../lib/telemetry/plain-error.ts';

export type Message = Omit<OutboxMessage, 'queue'>;

/**
 * Creates the handler of a queue's worker. Messages are independent: a failed one is redelivered, the others are done.
 * Each is logged in one line, with the ID of the request that caused it.
 *
 * @param errorFacts the log fields of an error; needed if its message may contain secrets
 */
export function worker(
  work: (message: Message, record: SQSRecord, context: Context) => Promise<void>,
  errorFacts: (error: unknown) => object = (error) => ({ error: plainError(error) }),
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const handle = async (record: SQSRecord, context: Context): Promise<void> => {
    if (isLate(context)) return handBack(record);
    const message = parseMessage(record.body);
    const started = performance.now();
    const area = process.env['AREA'] ?? context?.functionName;
    annotate({
      area,
      function_request_id: context?.awsRequestId,
      job: message?.type,
      messageId: message?.id,
      receives: receives(record) || undefined,
      age: ageOf(message),
    });
    const ended = (level: Level, facts: object, counts: Counts) => {
      const ms = Math.round(performance.now() - started);
      log(level, 'job', { ...annotations(), ms, ...facts, ...counts });
      measure(area, message && { job: message.type }, ms, counts);
    };
    try {
      // A message that cannot be parsed ends in the dead-letter queue.
      if (message === undefined) throw unknownMessage();
      await work(message, record, context);
      ended('info', { outcome: 'done' }, {});
    } catch (error) {
      ended('error', { outcome: 'failed', ...errorFacts(error) }, { JobsFailed: 1 });
      await retrySooner(record);
      throw error;
    }
  };
  return async (event, context) => {
    const begun = (record: SQSRecord) => {
      const { requestId, id, hookCall } = parseMessage(record.body) ?? {};
      // A message without a request, or from an earlier release, starts a correlation of its own.
      return correlated(requestId ?? id ?? record.messageId, () => handle(record, context), hookCall);
    };
    // One per batch: it has state, and the embedded host runs several batches concurrently.
    const processor = new BatchProcessor(EventType.SQS);
    return processPartialResponse(event, begun, processor, {
      processInParallel: false,
      // Failures are logged above; an error of the function would only repeat them.
      throwOnFullBatchFailure: false,
    });
  };
}

/** A step of a job may outlast its slice; what the rest of the batch does not get is left for another run. */
const isLate = (context?: Context): boolean =>
  (context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY) < SLICE_MS;

/** @throws Error always: the message was not begun, and is delivered again at once */
async function handBack(record: SQSRecord): Promise<never> {
  await postponed(record, 0);
  throw new Error('no time is left for this message');
}

const PAUSE_SECONDS = 60;
const MAX_PAUSE_SECONDS = 900;

/**
 * Lets a message that failed be delivered again after a pause, which doubles. Otherwise it would wait for the queue's
 * visibility timeout, which has to be much longer than a run. Best effort: without it the message comes back later.
 */
async function retrySooner(record: SQSRecord): Promise<void> {
  await postponed(record, Math.min(PAUSE_SECONDS * 2 ** (receives(record) - 1), MAX_PAUSE_SECONDS));
}

async function postponed(record: SQSRecord, seconds: number): Promise<void> {
  const queueUrl = process.env['WORKER_QUEUE_URL'];
  if (queueUrl === undefined) return;
  try {
    await postpone(awsClients().sqs, queueUrl, record.receiptHandle, seconds);
  } catch (error) {
    log('warn', 'message not postponed', { error: (error as Error).name });
  }
}

export const unknownMessage = () => new Error('unknown message type: not written by this service');

/** Number of deliveries of the message, including this one. */
export const receives = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);

/** The queue delivers more often (`cdk/work-queue.ts`), as it also counts what was not begun. */
const MAX_TRIES = 5;

/** Whether the job should give up and tell so, if it fails once more. */
export const isLastTry = (record: SQSRecord): boolean => receives(record) >= MAX_TRIES;

/** Seconds since it was enqueued or became due: the ID of a scheduled message has a future time. */
function ageOf(message: Message | undefined): number | undefined {
  if (message === undefined) return undefined;
  try {
    return Math.max(0, Math.round((Date.now() - writtenAt(message.id).getTime()) / 1000));
  } catch {
    // Statistics jobs have fixed IDs without a time.
    return undefined;
  }
}
