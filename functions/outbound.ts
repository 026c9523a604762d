import { parseAllowList } from '../lib/outbound/allow-list.ts';
import { type StagingOrder, type StagingOutcome, stageRepository } from '../lib/outbound/stage-repository.ts';
import { awsClients } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { INGEST, message, messageText } from '../lib/store/outbox/outbox.ts';
import { Queues } from '../lib/store/outbox/queues.ts';
import { notOurs, receives, worker } from './worker.ts';

/** What is left of the function's time when it stops waiting for somebody else's server. */
const RESERVE_MS = 15_000;
/** One that has ended the function before ends it again. */
const MAX_RECEIVES = 3;

/**
 * Calls servers that somebody else names. It may read and write nothing of ours: what it brings goes to presigned
 * URLs, and a message says that it is there.
 */
export const handler = worker(async ({ type, body }, record, context) => {
  if (type !== 'repository.stage') throw notOurs();
  const { queueUrls, outboundAllow } = readEnvironment();
  const queues = new Queues(awsClients().sqs, queueUrls);
  const { projectId, importId } = body;
  const report = async (what: string, about: Record<string, unknown>) => {
    const told = message(INGEST, what, { projectId, importId, ...about });
    await queues.send(INGEST, [{ id: told.id, body: messageText(told) }]);
  };
  await report('import.started', {});
  let outcome: StagingOutcome = { outcome: 'failed', failure: 'staging' };
  if (receives(record) <= MAX_RECEIVES) {
    const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESERVE_MS));
    const order = body as unknown as StagingOrder;
    // Orders of before carry none.
    const allow = parseAllowList(order.allow ?? outboundAllow);
    outcome = await stageRepository(order, { policy: { allow }, signal });
  }
  await report('import.staged', { ...outcome });
}, kindOf);

/** The message has keys in it, and URLs that are as good: only the kind of what went wrong is written down. */
function kindOf(error: unknown): object {
  const { name, code } = error as { name?: string; code?: string };
  return { error: name, code };
}
