import { runIngestJob } from '../lib/domain/worker/dispatch-ingest.ts';
import { deps } from './deps.ts';
import { receives, worker } from './worker.ts';

/** Deliveries before the queue moves a message to its dead-letter queue. */
const MAX_RECEIVES = 5;

/** Receives packs from the staging area, one after the other: large pushes, and imported repositories. */
export const handler = worker((message, record) =>
  runIngestJob(deps(), message, { lastDelivery: receives(record) >= MAX_RECEIVES }),
);
