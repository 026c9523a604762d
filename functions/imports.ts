import { runImportJob } from '../lib/domain/imports-ingest.ts';
import { deps } from './deps.ts';
import { receives, worker } from './worker.ts';

/** As the queue counts; behind it are the dead letters. */
const MAX_RECEIVES = 5;

/** Takes in what was brought from elsewhere. */
export const handler = worker((message, record) =>
  runImportJob(deps(), message, receives(record) >= MAX_RECEIVES),
);
