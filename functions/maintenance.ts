import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { runJob } from '../lib/domain/jobs.ts';
import { parseMessage } from '../lib/store/outbox.ts';
import { deps } from './deps.ts';

/** Each message on its own: one that fails comes again, the others are done. */
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of event.Records) {
    const message = parseMessage(record.body);
    try {
      // What is not ours can only be given up: it goes to the dead letters.
      if (message === undefined) throw new Error('a message that nobody here wrote');
      await runJob(deps(), message);
    } catch (error) {
      console.error(
        JSON.stringify({ level: 'error', job: message?.type, messageId: message?.id, error: String(error) }),
      );
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
