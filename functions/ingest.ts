import { ingestUpload } from '../lib/domain/ingest-upload.ts';
import { deps } from './deps.ts';
import { notOurs, worker } from './worker.ts';

/** Pushes that came by way of the staging area, one after the other. */
export const handler = worker(async ({ type, body: { id } }) => {
  if (type !== 'push.ingest' || typeof id !== 'string') throw notOurs();
  await ingestUpload(deps(), id);
});
