import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type OutboxMessage, parseMessage, writtenAt } from '../lib/store/outbox.ts';
import { annotate, annotations, correlated } from '../lib/telemetry/correlation.ts';
import { log } from '../lib/telemetry/log.ts';
import { counted } from '../lib/telemetry/metrics.ts';

export type Message = Omit<OutboxMessage, 'queue'>;

/**
 * The handler of a queue's worker. Each message is on its own: one whose work fails comes again, the others are done.
 * One line tells of each, under the id of the request that led to it.
 *
 * @param told what is written down of an error, for one whose text may hold secrets
 */
export function worker(
  work: (message: Message, record: SQSRecord, context: Context) => Promise<void>,
  told: (error: unknown) => object = (error) => ({ error: String(error) }),
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const done = async (record: SQSRecord, context: Context): Promise<boolean> => {
    const message = parseMessage(record.body);
    const started = performance.now();
    annotate({
      area: process.env['AREA'] ?? context?.functionName,
      invocation: context?.awsRequestId,
      job: message?.type,
      messageId: message?.id,
      receives: receives(record) || undefined,
      age: ageOf(message),
    });
    const ended = () => ({ ...annotations(), ms: Math.round(performance.now() - started) });
    try {
      // What is not ours can only be given up: it goes to the dead letters.
      if (message === undefined) throw notOurs();
      await work(message, record, context);
      log('info', 'job', { ...ended(), outcome: 'done' });
      return true;
    } catch (error) {
      log('error', 'job', { ...ended(), outcome: 'failed', ...told(error), ...counted({ JobsFailed: 1 }) });
      return false;
    }
  };
  return async (event, context) => {
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of event.Records) {
      const { requestId, id } = parseMessage(record.body) ?? {};
      // A message that no request led to, or one of an earlier release, is the beginning of what it leads to.
      const succeeded = await correlated(requestId ?? id ?? record.messageId, () => done(record, context));
      if (!succeeded) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };
  };
}

export const notOurs = () => new Error('a message that nobody here wrote');

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
