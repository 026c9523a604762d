/** Hooks hear of the statuses of jobs and pipelines. */

import { createHash } from 'node:crypto';
import type { CiStatus, JobRecord, PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ChangedJob } from '../../store/jobs/jobs.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { type HookActor, tellHooks } from '../hook-events/tell.ts';

/** In whose name, and under which address, hooks are told of a pipeline. */
export const tellerOf = (deps: Deps, { author, baseUrl }: PipelineRecord): HookActor => ({
  actorId: author.id,
  baseUrl: baseUrl ?? deps.environment.baseUrl ?? '',
});

export const toldOfPipeline = (
  deps: Deps,
  project: ProjectRecord,
  { id, sha, status }: PipelineRecord,
  by: HookActor,
): Promise<OutboxMessage[]> =>
  tellHooks(deps, by, project, [{ kind: 'pipeline', pipelineId: id, sha, status }]);

/** @param jobs with the statuses that they were given */
export const toldOfJobs = (
  deps: Deps,
  project: ProjectRecord,
  pipeline: PipelineRecord,
  jobs: readonly ChangedJob[],
): Promise<OutboxMessage[]> =>
  tellHooks(
    deps,
    tellerOf(deps, pipeline),
    project,
    jobs.map(({ id: jobId, status }) => ({
      kind: 'job',
      pipelineId: pipeline.id,
      sha: pipeline.sha,
      jobId,
      status: status as CiStatus,
    })),
  );

/** Those of the changes that give a job another status. */
export const changedStatuses = (
  changes: readonly { readonly job: JobRecord; readonly change: Partial<JobRecord> }[],
): ChangedJob[] =>
  changes.flatMap(({ job, change: { status } }) =>
    status === undefined || status === job.status ? [] : [{ id: job.id, status }],
  );

/** The same message, for whoever was told by another one that may come twice. */
export function after(cause: string, told: OutboxMessage): OutboxMessage {
  const digest = createHash('sha256').update(`${cause} ${told.type}`).digest();
  const rest = [...digest.subarray(0, 16)].map((byte) => DIGITS[byte % DIGITS.length]);
  return { ...told, id: `${cause.slice(0, 10)}${rest.join('')}` };
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
