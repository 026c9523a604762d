import type { CiStatus } from '../../records/pipelines.ts';
import { digestOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const pipelineJobsPartition = (pipelineId: number): string => `PIPELINE_JOBS#${padded(pipelineId)}`;

export const JOB_PREFIX = 'JOB#';

/** A job; those of a pipeline in the order of ids. */
export const jobKey = (pipelineId: number, id: number): Key => ({
  pk: pipelineJobsPartition(pipelineId),
  sk: `${JOB_PREFIX}${padded(id)}`,
});

/** What a runner needs of a job. */
export const jobSpecKey = (pipelineId: number, id: number): Key => ({
  pk: pipelineJobsPartition(pipelineId),
  sk: `SPEC#${padded(id)}`,
});

/** The variables that a pipeline was given. */
export const pipelineVariablesKey = (pipelineId: number): Key => ({
  pk: pipelineJobsPartition(pipelineId),
  sk: 'VARIABLES',
});

/** Leads from the id of a job to its pipeline. */
export const jobIdKey = (id: number): Key => ({ pk: `JOB_ID#${padded(id)}`, sk: 'JOB' });

export const projectJobsPartition = (projectId: number): string => `PROJECT_JOBS#${padded(projectId)}`;

export const jobStatePrefix = (status: CiStatus): string => `STATE#${status}#`;

/** Leads to a job of a project, by its status. */
export const jobStateKey = (projectId: number, status: CiStatus, id: number): Key => ({
  pk: projectJobsPartition(projectId),
  sk: `${jobStatePrefix(status)}${padded(id)}`,
});

/** The job that holds a resource group, or waits for it. */
export const resourcePrefix = (group: string): string => `RESOURCE#${digestOf(group)}#`;

export const resourceHolderKey = (projectId: number, group: string): Key => ({
  pk: projectJobsPartition(projectId),
  sk: `${resourcePrefix(group)}HOLDER`,
});

export const resourceWaiterKey = (projectId: number, group: string, id: number): Key => ({
  pk: projectJobsPartition(projectId),
  sk: `${resourcePrefix(group)}JOB#${padded(id)}`,
});

export const jobQueuePartition = (scope: string): string => `JOB_QUEUE#${scope}`;

/** A job that waits for a runner of a scope: the oldest first. */
export const queuedJobKey = (scope: string, id: number): Key => ({
  pk: jobQueuePartition(scope),
  sk: `${JOB_PREFIX}${padded(id)}`,
});

/** Leads from the hash of a running job's token to the job. */
export const jobTokenKey = (hash: string): Key => ({ pk: `JOB_TOKEN#${hash}`, sk: 'TOKEN' });

export const runnerJobsPartition = (runnerId: number): string => `RUNNER_JOBS#${padded(runnerId)}`;

/** Leads to a job that a runner has taken; those of a runner in the order of ids. */
export const runnerJobKey = (runnerId: number, id: number): Key => ({
  pk: runnerJobsPartition(runnerId),
  sk: `${JOB_PREFIX}${padded(id)}`,
});

const of = ['project'] as const;

export const rowKinds = [
  { name: 'job', partitions: ['PIPELINE_JOBS#'], keys: { jobKey }, of },
  { name: 'job-spec', partitions: ['PIPELINE_JOBS#'], keys: { jobSpecKey }, of },
  { name: 'pipeline-variables', partitions: ['PIPELINE_JOBS#'], keys: { pipelineVariablesKey }, of },
  { name: 'job-id', partitions: ['JOB_ID#'], keys: { jobIdKey }, of },
  { name: 'job-state', partitions: ['PROJECT_JOBS#'], keys: { jobStateKey }, of },
  {
    name: 'job-resource',
    partitions: ['PROJECT_JOBS#'],
    keys: { resourceHolderKey, resourceWaiterKey },
    of,
  },
  { name: 'queued-job', partitions: ['JOB_QUEUE#'], keys: { queuedJobKey }, of },
  { name: 'runner-job', partitions: ['RUNNER_JOBS#'], keys: { runnerJobKey }, of },
  { name: 'job-token', partitions: ['JOB_TOKEN#'], keys: { jobTokenKey }, of },
] as const satisfies readonly RowKind[];
