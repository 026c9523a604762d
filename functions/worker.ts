import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type OutboxMessage, parseMessage } from '../lib/store/outbox.ts';

export type Message = Omit<OutboxMessage, 'queue'>;

/**
 * The handler of a queue's worker. Each message is on its own: one whose work fails comes again, the others are done.
 *
 * @param told what is written down of an error, for one whose text may hold secrets
 */
export function worker(
  work: (message: Message, record: SQSRecord, context: Context) => Promise<void>,
  told: (error: unknown) => object = (error) => ({ error: String(error) }),
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  return async (event, context) => {
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of event.Records) {
      const message = parseMessage(record.body);
      try {
        // What is not ours can only be given up: it goes to the dead letters.
        if (message === undefined) throw notOurs();
        await work(message, record, context);
      } catch (error) {
        const about = { level: 'error', job: message?.type, messageId: message?.id };
        console.error(JSON.stringify({ ...about, ...told(error) }));
        batchItemFailures.push({ itemIdentifier: record.messageId });
      }
    }
    return { batchItemFailures };
  };
}

export const notOurs = () => new Error('a message that nobody here wrote');

/** How often the message was delivered, this time counted. */
export const receives = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);
