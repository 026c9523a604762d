import * as z from 'zod/mini';
import { defineJob } from '../lib/domain/job.ts';
import { idField, textField } from '../lib/domain/job-fields.ts';
import { jobReader } from '../lib/domain/worker/run-job.ts';
import { parseAllowList } from '../lib/outbound/allow-list.ts';
import {
  IMPORT_FETCH_JOB,
  IMPORT_ORDER_JOB,
  IMPORT_STAGED_JOB,
  IMPORT_STARTED_JOB,
  type StagingOrder,
  type StagingOutcome,
  stageRepository,
} from '../lib/outbound/stage-repository.ts';
import { awsClients } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { INGEST, message, messageText } from '../lib/store/outbox/outbox.ts';
import { Queues } from '../lib/store/outbox/queues.ts';
import { receives, worker } from './worker.ts';

/** What is left of the function's time when it stops waiting for a foreign server. */
const RESERVE_MS = 15_000;
/** An order that has ended the function this often would end it again. */
const MAX_RECEIVES = 3;

/** What the job works with: nothing that reads or writes the service's data. */
interface FetchDeps {
  readonly receives: number;
  /** What may be called although it is not public, for orders of earlier releases, which do not say. */
  readonly outboundAllow: string;
  /** Enqueues a job of the queue `ingest`. */
  report(type: string, body: Readonly<Record<string, unknown>>): Promise<void>;
}

export const importFetchJob = defineJob({
  name: IMPORT_FETCH_JOB,
  formerNames: ['repository.stage'],
  body: () =>
    z.object({
      projectId: idField(),
      importId: textField(),
      url: z.string(),
      credentials: z.exactOptional(z.object({ url: z.string(), key: z.string() })),
      packUrl: z.string(),
      refsUrl: z.string(),
      maxPackBytes: z.number(),
      allow: z.exactOptional(z.string()),
      signedUntil: z.exactOptional(z.number()),
    }),
  async run(deps: FetchDeps, { projectId, importId, ...order }, { deadline }) {
    // The last URL is used when the fetch ends.
    if (order.signedUntil !== undefined && order.signedUntil < deadline) {
      const key = order.credentials?.key;
      return deps.report(IMPORT_ORDER_JOB, { projectId, importId, ...(key === undefined ? {} : { key }) });
    }
    await deps.report(IMPORT_STARTED_JOB, { projectId, importId });
    let outcome: StagingOutcome = { outcome: 'failed', failure: 'staging' };
    if (deps.receives <= MAX_RECEIVES) {
      const signal = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
      const allow = parseAllowList(order.allow ?? deps.outboundAllow);
      outcome = await stageRepository(order satisfies StagingOrder, { policy: { allow }, signal });
    }
    await deps.report(IMPORT_STAGED_JOB, { projectId, importId, ...outcome });
  },
});

const read = jobReader([importFetchJob]);

/**
 * Calls foreign servers. It can read and write nothing of the service's own: what it fetches is uploaded to presigned
 * URLs, and a message reports that it is there.
 */
export const handler = worker(async (job, record, context) => {
  const { queueUrls, outboundAllow } = readEnvironment();
  const queues = new Queues(awsClients().sqs, queueUrls);
  const report: FetchDeps['report'] = async (type, body) => {
    const reported = message(INGEST, type, body);
    await queues.send(INGEST, [{ id: reported.id, body: messageText(reported) }]);
  };
  const deps = { receives: receives(record), outboundAllow, report };
  const deadline = Date.now() + context.getRemainingTimeInMillis() - RESERVE_MS;
  await read(job).run(deps, { messageId: job.id, lastDelivery: false, deadline });
}, kindOf);

/** The message has keys in it, and URLs that are as good: only the kind of what went wrong is logged. */
function kindOf(error: unknown): object {
  const { name, code } = error as { name?: string; code?: string };
  return { error: name, code };
}
