import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type OutboxMessage, parseMessage, writtenAt } from '../lib/store/outbox/outbox.ts';
import { annotate, annotations, correlated } from '../lib/telemetry/correlation.ts';
import { type Level, log } from '../lib/telemetry/log.ts';
import { type Counts, measure } from '../lib/telemetry/metrics.ts';
import { plainError } from '../lib/telemetry/plain-error.ts';

export type Message = Omit<OutboxMessage, 'queue'>;

/**
 * The handler of a queue's worker. Each message is on its own: one whose work fails comes again, the others are done.
 * One line tells of each, under the id of the request that led to it.
 *
 * @param told what is written down of an error, for one whose text may hold secrets
 */
export function worker(
  work: (message: Message, record: SQSRecord, context: Context) => Promise<void>,
  told: (error: unknown) => object = (error) => ({ error: plainError(error) }),
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const done = async (record: SQSRecord, context: Context): Promise<void> => {
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
      // What is not ours can only be given up: it goes to the dead letters.
      if (message === undefined) throw notOurs();
      await work(message, record, context);
      ended('info', { outcome: 'done' }, {});
    } catch (error) {
      ended('error', { outcome: 'failed', ...told(error) }, { JobsFailed: 1 });
      throw error;
    }
  };
  return async (event, context) => {
    const begun = (record: SQSRecord) => {
      const { requestId, id } = parseMessage(record.body) ?? {};
      // A message that no request led to, or one of an earlier release, is the beginning of what it leads to.
      return correlated(requestId ?? id ?? record.messageId, () => done(record, context));
    };
    // It keeps its batch to itself, and the embedded host works on several at once: one for each.
    const processor = new BatchProcessor(EventType.SQS);
    return processPartialResponse(event, begun, processor, {
      processInParallel: false,
      // Each failure is told above; an error of the function would tell it again, and say less.
      throwOnFullBatchFailure: false,
    });
  };
}

export const notOurs = () => new Error('unknown message type: not written by this service');

/** How often the message was delivered, this time counted. */
export const receives = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);

/** Seconds since it was promised, or fell due: an id may be dated ahead. */
function ageOf(message: Message | undefined): number | undefined {
  if (message === undefined) return undefined;
  try {
    return Math.max(0, Math.round((Date.now() - writtenAt(message.id).getTime()) / 1000));
  } catch {
    // Ids of a fixed form, as measuring has them.
    return undefined;
  }
}
