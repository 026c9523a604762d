import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { runForkJob } from '../lib/domain/fork-content.ts';
import { parseMessage } from '../lib/store/outbox.ts';
import { deps } from './deps.ts';

/** Gives forks their content: each message on its own, one that fails comes again. */
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of event.Records) {
    const message = parseMessage(record.body);
    try {
      if (message === undefined) throw new Error('a message that nobody here wrote');
      await runForkJob(deps(), message);
    } catch (error) {
      console.error(
        JSON.stringify({ level: 'error', job: message?.type, messageId: message?.id, error: String(error) }),
      );
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
