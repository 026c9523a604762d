import * as z from 'zod/mini';
import { defineJob, type JobDefinition } from '../lib/domain/job.ts';
import { idField, textField } from '../lib/domain/job-fields.ts';
import { jobReader } from '../lib/domain/worker/run-job.ts';
import { parseAllowList } from '../lib/outbound/allow-list.ts';
import { CALL_HOOK_JOB, callHook, HOOK_CALLED_JOB } from '../lib/outbound/hook-call.ts';
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
import { INGEST, MAINTENANCE, message, messageText } from '../lib/store/outbox/outbox.ts';
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
  /** Enqueues a job of the queue `maintenance`. */
  reportCall(type: string, body: Readonly<Record<string, unknown>>): Promise<void>;
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

export const callHookJob = defineJob({
  name: CALL_HOOK_JOB,
  body: () =>
    z.object({
      // Whose hook it is: goes back with the report.
      owner: z.looseObject({ kind: textField() }),
      hookId: idField(),
      deliveryId: textField(),
      holder: textField(),
      slug: z.exactOptional(textField()),
      order: z.object({
        url: z.string(),
        method: z.exactOptional(z.enum(['GET', 'POST', 'PUT', 'LINES'])),
        answerBytes: z.exactOptional(z.number()),
        headers: z.record(z.string(), z.string()),
        payload: z.string(),
        anyCertificate: z.boolean(),
        allow: z.string(),
      }),
    }),
  async run(deps: FetchDeps, { order, ...which }) {
    const outcome = await callHook(order);
    await deps.reportCall(HOOK_CALLED_JOB, { ...which, outcome });
  },
});

const read = jobReader<FetchDeps>([importFetchJob, callHookJob] as readonly JobDefinition<
  unknown,
  FetchDeps
>[]);

/**
 * Calls foreign servers. It can read and write nothing of the service's own: what it fetches is uploaded to presigned
 * URLs, and a message reports that it is there.
 */
export const handler = worker(async (job, record, context) => {
  const { queueUrls, outboundAllow } = readEnvironment();
  const queues = new Queues(awsClients().sqs, queueUrls);
  const reporting =
    (queue: string): FetchDeps['report'] =>
    async (type, body) => {
      const reported = message(queue, type, body);
      await queues.send(queue, [{ id: reported.id, body: messageText(reported) }]);
    };
  const deps = {
    receives: receives(record),
    outboundAllow,
    report: reporting(INGEST),
    reportCall: reporting(MAINTENANCE),
  };
  const deadline = Date.now() + context.getRemainingTimeInMillis() - RESERVE_MS;
  await read(job).run(deps, { messageId: job.id, lastDelivery: false, deadline, stopsAt: deadline });
}, kindOf);

/** The message has keys in it, and URLs that are as good: only the kind of what went wrong is logged. */
function kindOf(error: unknown): object {
  const { name, code } = error as { name?: string; code?: string };
  return { error: name, code };
}
