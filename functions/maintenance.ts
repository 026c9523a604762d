import { runJob } from '../lib/domain/worker/dispatch.ts';
import { deps } from './deps.ts';
import { worker } from './worker.ts';

/** Background jobs that have no queue of their own. */
export const handler = worker((message) => runJob(deps(), message));
