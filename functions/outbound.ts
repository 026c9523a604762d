import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseAllowList } from '../lib/outbound/allow-list.ts';
import { type StagingOrder, type StagingOutcome, stageRepository } from '../lib/outbound/stage-repository.ts';
import { awsClients } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { IMPORTS, message, messageText, parseMessage } from '../lib/store/outbox.ts';
import { Queues } from '../lib/store/queues.ts';

/** What is left of the function's time when it stops waiting for somebody else's server. */
const RESERVE_MS = 15_000;
/** One that has ended the function before ends it again. */
const MAX_RECEIVES = 3;

/**
 * Calls servers that somebody else names. It may read and write nothing of ours: what it brings goes to presigned
 * URLs, and a message says that it is there.
 */
export const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  const { queueUrls, outboundAllow } = readEnvironment();
  const queues = new Queues(awsClients().sqs, queueUrls);
  const allow = parseAllowList(outboundAllow);
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of event.Records) {
    const order = parseMessage(record.body);
    const report = async (type: string, body: Record<string, unknown>) => {
      const { projectId, importId } = order!.body;
      const told = message(IMPORTS, type, { projectId, importId, ...body });
      await queues.send(IMPORTS, [{ id: told.id, body: messageText(told) }]);
    };
    try {
      if (order?.type !== 'repository.stage') throw new Error('a message that nobody here wrote');
      await report('import.started', {});
      let outcome: StagingOutcome = { outcome: 'failed', failure: 'staging' };
      if (Number(record.attributes.ApproximateReceiveCount) <= MAX_RECEIVES) {
        const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESERVE_MS));
        outcome = await stageRepository(order.body as unknown as StagingOrder, { policy: { allow }, signal });
      }
      await report('import.staged', { ...outcome });
    } catch (error) {
      // The message has keys in it, and URLs that are as good: only the kind of what went wrong is written down.
      const { name, code } = error as { name?: string; code?: string };
      console.error(
        JSON.stringify({ level: 'error', job: order?.type, messageId: order?.id, error: name, code }),
      );
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
