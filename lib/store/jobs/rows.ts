/** The rows of jobs. */
import type { JobRecord } from '../../records/pipelines.ts';
import { ARTIFACTS_TOTAL_STRIPES, artifactsTotalKey } from '../row-keys/artifacts.ts';
import {
  jobIdKey,
  jobKey,
  jobStateKey,
  jobTokenKey,
  queuedJobKey,
  resourceHolderKey,
  resourceWaiterKey,
  runnerJobKey,
} from '../row-keys/jobs.ts';
import type { Key } from '../row-keys/key.ts';
import { ABSENT, type Item, type Write } from '../table/write.ts';

/** Bytes of the files that jobs have left. */
export const bytesOf = (jobs: readonly JobRecord[]): number =>
  jobs.reduce((sum, { artifacts }) => artifacts.reduce((all, { size }) => all + size, sum), 0);

export const totalWrites = (projectId: number, bytes: number): Write[] =>
  bytes === 0
    ? []
    : [
        {
          update: artifactsTotalKey(projectId, Math.floor(Math.random() * ARTIFACTS_TOTAL_STRIPES)),
          add: { bytes },
        },
      ];

/** The rows of a job outside its pipeline's partition. */
export function outsideOf(job: JobRecord): Key[] {
  return [
    jobIdKey(job.id),
    jobStateKey(job.projectId, job.status, job.id),
    ...queuesOf(job).map((scope) => queuedJobKey(scope, job.id)),
    ...(job.tokenHash === undefined ? [] : [jobTokenKey(job.tokenHash)]),
    ...(job.runnerId === null ? [] : [runnerJobKey(job.runnerId, job.id)]),
    ...(job.resourceGroup === undefined
      ? []
      : [
          ...(holdsResource(job) ? [resourceHolderKey(job.projectId, job.resourceGroup)] : []),
          ...(job.status === 'waiting_for_resource'
            ? [resourceWaiterKey(job.projectId, job.resourceGroup, job.id)]
            : []),
        ]),
  ];
}

export const queuesOf = ({ kind, status, scopes }: JobRecord): readonly string[] =>
  status === 'pending' && kind === 'build' ? scopes : [];

export const queuedJob = (scope: string, job: JobRecord) => {
  const { id, projectId, pipelineId, tags, protected: isProtected } = job;
  return { ...queuedJobKey(scope, id), projectId, pipelineId, tags, protected: isProtected };
};

/** Whether a job has its resource group to itself. */
const holdsResource = ({ resourceGroup, status }: JobRecord): boolean =>
  resourceGroup !== undefined && (status === 'pending' || status === 'preparing' || status === 'running');

/** All writes of a change. An ended job has no token, whatever the change says; which one it had is remembered. */
export function changeWrites(before: JobRecord, changed: JobRecord): Write[] {
  const { id, projectId, pipelineId } = before;
  const { tokenHash, ...tokenless } = changed;
  const ended = tokenHash === undefined ? {} : { endedTokenHash: tokenHash };
  const after = changed.status === 'running' ? changed : ({ ...tokenless, ...ended } as JobRecord);
  const writes: Write[] = [
    {
      put: { ...jobKey(pipelineId, id), ...after },
      if: '#version = :was',
      values: { was: before.version },
      reason: 'job',
    },
  ];
  if (before.status !== after.status)
    writes.push(
      { delete: jobStateKey(projectId, before.status, id) },
      { put: { ...jobStateKey(projectId, after.status, id), pipelineId } },
    );
  const [left, entered] = [queuesOf(before), queuesOf(after)];
  for (const scope of left) if (!entered.includes(scope)) writes.push({ delete: queuedJobKey(scope, id) });
  for (const scope of entered) if (!left.includes(scope)) writes.push({ put: queuedJob(scope, after) });
  const token = after.status === 'running' ? tokenHash : undefined;
  if (before.tokenHash !== undefined && before.tokenHash !== token)
    writes.push({ delete: jobTokenKey(before.tokenHash) });
  if (token !== undefined && token !== before.tokenHash)
    writes.push({ put: { ...jobTokenKey(token), jobId: id, pipelineId }, if: ABSENT, reason: 'job' });
  if (before.runnerId !== after.runnerId) {
    if (before.runnerId !== null) writes.push({ delete: runnerJobKey(before.runnerId, id) });
    if (after.runnerId !== null)
      writes.push({ put: { ...runnerJobKey(after.runnerId, id), pipelineId, projectId } });
  }
  writes.push(...resourceWrites(before, after));
  return writes;
}

/** A resource group is held by one job of the project at a time; others wait in the order of their ids. */
export function resourceWrites(before: JobRecord, after: JobRecord): Write[] {
  const { id, projectId, pipelineId, resourceGroup: group } = after;
  if (group === undefined) return [];
  const writes: Write[] = [];
  const holder = resourceHolderKey(projectId, group);
  if (!holdsResource(before) && holdsResource(after))
    writes.push({ put: { ...holder, jobId: id, pipelineId }, if: ABSENT, reason: 'resource' });
  if (holdsResource(before) && !holdsResource(after)) writes.push({ delete: holder });
  const waits = (job: JobRecord) => job.status === 'waiting_for_resource';
  const waiter = resourceWaiterKey(projectId, group, id);
  if (!waits(before) && waits(after)) writes.push({ put: { ...waiter, pipelineId } });
  if (waits(before) && !waits(after)) writes.push({ delete: waiter });
  return writes;
}

export function fromItem(item: Item | undefined): JobRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ...record } = item;
  return record as unknown as JobRecord;
}
