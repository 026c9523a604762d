import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const jobTracesPartition = (projectId: number): string => `JOB_TRACES#${padded(projectId)}`;

/** How much of a job's trace there is. */
export const jobTraceKey = (projectId: number, jobId: number): Key => ({
  pk: jobTracesPartition(projectId),
  sk: `TRACE#${padded(jobId)}`,
});

export const rowKinds = [
  { name: 'job-trace', partitions: ['JOB_TRACES#'], keys: { jobTraceKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
