import { runForkJob } from '../lib/domain/worker/dispatch-forks.ts';
import { deps } from './deps.ts';
import { worker } from './worker.ts';

/** Gives forks their content. */
export const handler = worker((message) => runForkJob(deps(), message));
