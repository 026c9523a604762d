import { runJob } from '../lib/domain/worker/dispatch.ts';
import { deps } from './deps.ts';
import { worker } from './worker.ts';

/** Everything that is done behind a request's back and has no queue of its own. */
export const handler = worker((message) => runJob(deps(), message));
