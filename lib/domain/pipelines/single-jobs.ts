/** What calls ask about jobs and do with them. */

import { type CiStatus, hasEnded, isCancelable, type JobRecord } from '../../records/pipelines.ts';
import type { JobChange } from '../../store/jobs/jobs.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, forbidden } from '../errors.ts';
import { changeJob } from '../jobs/find.ts';
import { repeated } from '../jobs/repeat.ts';
import { scopesOf } from '../jobs/scopes.ts';
import { readied } from './advance-pipeline.ts';
import { requireMayPlay, requireMayUpdate } from './may-update.ts';
import { getPipeline } from './pipelines.ts';

/** The newest first. @param before only those older than this one */
export const listJobs = (
  { store }: Deps,
  { project }: ProjectAccess,
  scope: readonly CiStatus[] | undefined,
  request: PageRequest,
  before?: number,
): Promise<Page<JobRecord>> =>
  store.jobList.ofProject(
    project.id,
    {
      before,
      ...(scope === undefined || scope.length === 0 ? {} : { scope }),
      where: ({ kind }) => kind === 'build',
    },
    request,
  );

export interface JobsOfPipeline {
  readonly kind: JobRecord['kind'];
  readonly scope?: readonly CiStatus[] | undefined;
  readonly includeRetried: boolean;
}

/** @throws `404 Not found` for the pipeline */
export async function jobsOfPipeline(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  { kind, scope = [], includeRetried }: JobsOfPipeline,
  request: PageRequest,
): Promise<Page<JobRecord>> {
  await getPipeline(deps, access, id);
  const fits = (job: JobRecord) =>
    job.kind === kind &&
    (includeRetried || !job.retried) &&
    (scope.length === 0 || scope.includes(job.status));
  return deps.store.jobList.ofPipeline(id, fits, request);
}

/**
 * Changes a job as it is when it is changed.
 * @throws `404 Not found`; 403 on a protected branch that the actor may not push to; 409 where others prevented every attempt
 */
const changed = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  change: (job: JobRecord) => Promise<JobRecord>,
): Promise<JobRecord> =>
  changeJob(deps, access, id, async (job) => {
    await requireMayUpdate(deps, actor, access, job);
    return change(job);
  });

/** Cancels a job; one that has ended stays as it is. */
export const cancelJob = (deps: Deps, actor: Actor, access: ProjectAccess, id: number): Promise<JobRecord> =>
  changed(deps, actor, access, id, async (job) => {
    if (!isCancelable(job.status)) return job;
    return deps.store.jobs.finish(job, { status: 'canceled' }, deps.now());
  });

/** Repeats a job. @throws 403 for one that cannot be repeated */
export const retryJob = (deps: Deps, actor: Actor, access: ProjectAccess, id: number): Promise<JobRecord> =>
  changed(deps, actor, access, id, async (job) => {
    const { user } = signedIn(actor);
    if (job.retried || !['success', 'failed', 'canceled'].includes(job.status))
      throw forbidden('Job is not retryable');
    const at = deps.now().toISOString();
    const started = readied(job, scopesOf(access.project), at);
    await reopened(deps, job, at);
    const again = { userId: user.id, attempt: 0, advance: true, started };
    const [, copy] = await repeated(deps, job, again, deps.now());
    return copy;
  });

/** Starts a manual job, or one that waits for its time. @throws 400 for any other; 403 and more, as for other changes */
export const playJob = (deps: Deps, actor: Actor, access: ProjectAccess, id: number): Promise<JobRecord> =>
  changeJob(deps, access, id, async (job) => {
    await requireMayPlay(deps, actor, access, job);
    const { user } = signedIn(actor);
    if (job.retried || (job.status !== 'manual' && job.status !== 'scheduled'))
      throw badRequest('Unplayable Job');
    const at = deps.now().toISOString();
    await reopened(deps, job, at);
    const change = { ...readied(job, scopesOf(access.project), at), userId: user.id, scheduledAt: null };
    const [played] = await deps.store.jobs.change([{ job, change }]);
    return played!;
  });

/** Lets jobs behind this one, which were skipped, be decided about again. */
async function reopened({ store }: Deps, job: JobRecord, at: string): Promise<void> {
  const all = (await store.jobs.all(job.pipelineId)).filter(({ retried }) => !retried);
  const behind = new Set([job.name]);
  const skipped = all
    .toSorted((a, b) => a.stageIndex - b.stageIndex)
    .filter((other) => {
      const follows =
        other.needs === undefined
          ? other.stageIndex > job.stageIndex
          : other.needs.some((need) => behind.has(need));
      if (follows) behind.add(other.name);
      return follows && other.status === 'skipped';
    });
  const changes: JobChange[] = skipped.map((other) => ({
    job: other,
    change: { status: 'created', finishedAt: null, updatedAt: at },
  }));
  for (const group of store.jobs.groupsOf(changes)) await store.jobs.change(group, { advance: false });
}

/** Deletes what a job left. @throws 403 for one that has not ended, or was erased before, and for jobs of others */
export const eraseJob = (deps: Deps, actor: Actor, access: ProjectAccess, id: number): Promise<JobRecord> =>
  changed(deps, actor, access, id, async (job) => {
    const { user } = signedIn(actor);
    const own = job.userId === user.id && !job.protected;
    if (!own && !can(actor, access, 'admin_jobs')) throw forbidden();
    if (!hasEnded(job.status) || job.startedAt === null || job.erasedAt !== null)
      throw forbidden('Job is not erasable!');
    const at = deps.now().toISOString();
    const change = {
      erasedAt: at,
      erasedById: user.id,
      updatedAt: at,
      artifacts: [],
      artifactsExpireAt: null,
    };
    const { store } = deps;
    const messages = store.artifacts.unlisted(job, job.artifacts);
    const [erased] = await store.jobs.change([{ job, change }], { advance: false, messages });
    if (job.artifacts.length > 0) await store.table.put(scheduleMeasuring(job.projectId, deps.now()));
    // What cannot be deleted now goes with the project.
    await deps.store.jobTraces.remove(job).catch(() => {});
    return erased!;
  });
