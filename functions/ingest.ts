import { runIngestJob } from '../lib/domain/worker/dispatch-ingest.ts';
import { deps } from './deps.ts';
import { isLastTry, worker } from './worker.ts';

/** Receives packs from the staging area, one after the other: large pushes, and imported repositories. */
export const handler = worker((message, record) =>
  runIngestJob(deps(), message, { lastDelivery: isLastTry(record) }),
);
