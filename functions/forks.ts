import { runForkJob } from '../lib/domain/worker/dispatch-forks.ts';
import { deps } from './deps.ts';
import { worker } from './worker.ts';

/** Fills forks with the content of their sources. */
export const handler = worker((message) => runForkJob(deps(), message));
