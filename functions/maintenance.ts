import { runJob } from '../lib/domain/worker/dispatch.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';
import { worker } from './worker.ts';

/** Background jobs that have no queue of their own. Variables of pipelines and tokens of hooks are sealed. */
export const handler = worker((message) => runJob(depsWithSecrets(), message));
