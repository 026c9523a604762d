import { runJob } from '../lib/domain/worker/dispatch.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';
import { isLastTry, worker } from './worker.ts';

/** Background jobs that have no queue of their own. Variables of pipelines and tokens of hooks are sealed. */
export const handler = worker((message, record, context) => {
  const left = context?.getRemainingTimeInMillis?.();
  return runJob(depsWithSecrets(), message, {
    lastDelivery: isLastTry(record),
    ...(left === undefined ? {} : { stopsAt: Date.now() + left }),
  });
});
