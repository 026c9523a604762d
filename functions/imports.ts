import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { runImportJob } from '../lib/domain/imports-ingest.ts';
import { parseMessage } from '../lib/store/outbox.ts';
import { deps } from './deps.ts';

/** As the queue counts; behind it are the dead letters. */
const MAX_RECEIVES = 5;

/** Takes in what was brought from elsewhere. */
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of event.Records) {
    const message = parseMessage(record.body);
    try {
      if (message === undefined) throw new Error('a message that nobody here wrote');
      const last = Number(record.attributes.ApproximateReceiveCount) >= MAX_RECEIVES;
      await runImportJob(deps(), message, last);
    } catch (error) {
      console.error(
        JSON.stringify({ level: 'error', job: message?.type, messageId: message?.id, error: String(error) }),
      );
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
