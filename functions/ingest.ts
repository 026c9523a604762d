import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { ingestUpload } from '../lib/domain/ingest-upload.ts';
import { parseMessage } from '../lib/store/outbox.ts';
import { deps } from './deps.ts';

/** Pushes that came by way of the staging area, one after the other. */
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of event.Records) {
    const message = parseMessage(record.body);
    try {
      const id = message?.body['id'];
      // What is not ours can only be given up: it goes to the dead letters.
      if (message?.type !== 'push.ingest' || typeof id !== 'string')
        throw new Error('a message that nobody here wrote');
      await ingestUpload(deps(), id);
    } catch (error) {
      console.error(
        JSON.stringify({ level: 'error', job: message?.type, messageId: message?.id, error: String(error) }),
      );
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
