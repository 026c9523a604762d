import { ingestUpload } from '../lib/domain/git/receive-staged-push.ts';
import { runImportJob } from '../lib/domain/imports/finish.ts';
import { deps } from './deps.ts';
import { notOurs, receives, worker } from './worker.ts';

/** As the queue counts; behind it are the dead letters. */
const MAX_RECEIVES = 5;

/** Takes in what waits in the staging area, one pack after the other: large pushes, and what was brought from elsewhere. */
export const handler = worker(async (message, record) => {
  const { id } = message.body;
  if (message.type !== 'push.ingest') return runImportJob(deps(), message, receives(record) >= MAX_RECEIVES);
  if (typeof id !== 'string') throw notOurs();
  await ingestUpload(deps(), id);
});
