import type { JobRecord } from '../../records/pipelines.ts';
import type { RunnerRecord } from '../../records/runners.ts';

/** Whether a runner takes such a job. */
export const fits = (
  runner: Pick<RunnerRecord, 'tags' | 'runUntagged' | 'accessLevel'>,
  job: Pick<JobRecord, 'tags' | 'protected'>,
): boolean =>
  (job.tags.length === 0 ? runner.runUntagged : job.tags.every((tag) => runner.tags.includes(tag))) &&
  (runner.accessLevel === 'not_protected' || job.protected);
