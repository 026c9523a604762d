import { hasEnded, isCancelable, type JobRecord, type PipelineRecord } from '../../records/pipelines.ts';
import { Stale } from '../../store/errors.ts';
import { MAINTENANCE, message, outboxWrite } from '../../store/outbox/outbox.ts';
import { REMOVE_PIPELINE_JOB } from '../../store/pipelines/pipelines.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { advancePipeline, type PipelineReference, type StartBridges, sumUp } from './advance-pipeline.ts';

const isStale = (error: unknown): boolean => error instanceof Stale;

/**
 * Cancels all jobs of a pipeline that have not ended, and gives it the status that comes of it.
 * @param unless asked with its jobs before anything is cancelled: false leaves it alone
 * @returns the pipeline as it is then
 */
export async function cancelJobs(
  deps: Deps,
  pipeline: PipelineRecord,
  unless: (jobs: readonly JobRecord[]) => boolean = () => true,
): Promise<PipelineRecord> {
  const { store, now } = deps;
  const { projectId, id } = pipeline;
  return retryOnConflict(async () => {
    const [current, all] = await Promise.all([store.pipelines.byId(projectId, id), store.jobs.all(id)]);
    if (current === undefined || !unless(all.filter(({ retried }) => !retried))) return current ?? pipeline;
    const at = now().toISOString();
    const jobs = new Map(all.map((job) => [job.id, job]));
    const open = all.filter(({ status, retried }) => !retried && isCancelable(status));
    const change = { status: 'canceled', finishedAt: at, updatedAt: at } as const;
    const changes = open.map((job) => ({ job, change }));
    for (const group of store.jobs.groupsOf(changes))
      for (const job of await store.jobs.change(group)) jobs.set(job.id, job);
    // Child pipelines end with the job that waits for them.
    for (const { downstream } of open) {
      if (downstream?.projectId !== projectId) continue;
      const child = await store.pipelines.byId(projectId, downstream.pipelineId);
      if (child !== undefined) await cancelJobs(deps, child);
    }
    return sumUp(deps, current, [...jobs.values()]);
  }, isStale);
}

/** Milliseconds for which a job may wait for a runner. */
const MAX_PENDING_MS = 86_400_000;
/** Beyond the time that a job may take: its runner ends it by itself. */
const GRACE_MS = 600_000;
const DEFAULT_TIMEOUT = 3600;
const CHECK_EVERY_MS = 3_600_000;

/**
 * Ends the jobs of a pipeline that nobody works on any more: those that ran longer than they may, and those that no runner
 * has taken for a day.
 * @returns milliseconds until the next look; undefined: none is needed
 */
export async function checkPipeline(
  deps: Deps,
  reference: PipelineReference,
  bridges?: StartBridges,
): Promise<number | undefined> {
  const { store, now } = deps;
  const [pipeline, project] = await Promise.all([
    store.pipelines.byId(reference.projectId, reference.pipelineId),
    store.projects.get(reference.projectId),
  ]);
  if (pipeline === undefined || project === undefined || project.deletedAt !== null) return undefined;
  if (hasEnded(pipeline.status)) return undefined;
  await retryOnConflict(async () => {
    const jobs = await store.jobs.all(reference.pipelineId);
    const time = now().getTime();
    const at = now().toISOString();
    const allowed = (project.settings['build_timeout'] as number | undefined) ?? DEFAULT_TIMEOUT;
    const changes = jobs.flatMap((job) => {
      const reason = overdue(job, allowed, time);
      if (reason === undefined) return [];
      const change = { status: 'failed', failureReason: reason, finishedAt: at, updatedAt: at } as const;
      return [{ job, change }];
    });
    for (const group of store.jobs.groupsOf(changes)) await store.jobs.change(group);
  }, isStale);
  // A message may have been lost with a queue.
  await advancePipeline(deps, reference, bridges === undefined ? {} : { bridges });
  return CHECK_EVERY_MS;
}

function overdue(job: JobRecord, allowed: number, time: number): string | undefined {
  // A job that started a pipeline waits as long as that takes.
  if (job.retried || job.kind === 'bridge') return undefined;
  if (job.status === 'running' && job.startedAt !== null) {
    const limit = (job.timeout ?? allowed) * 1000 + GRACE_MS;
    return time - Date.parse(job.startedAt) > limit ? 'job_execution_timeout' : undefined;
  }
  if (job.status === 'pending' && job.queuedAt !== null)
    return time - Date.parse(job.queuedAt) > MAX_PENDING_MS ? 'stuck_or_timeout_failure' : undefined;
  return undefined;
}

/** Deletes a pipeline; its jobs follow. @throws Stale */
export async function removePipeline({ store }: Deps, pipeline: PipelineRecord): Promise<void> {
  const { projectId, id, sha } = pipeline;
  const rest = message(MAINTENANCE, REMOVE_PIPELINE_JOB, { projectId, pipelineId: id, sha });
  await store.pipelines.remove(pipeline, [outboxWrite(rest)]);
  await store.outbox.deliver([rest]);
}

/** @param deadline milliseconds since 1970. @returns whether nothing is left */
export async function removeRest(
  { store, now }: Deps,
  { projectId, pipelineId, sha }: PipelineReference & { readonly sha: string },
  deadline: number,
): Promise<boolean> {
  const started = (jobs: readonly JobRecord[]) => jobs.filter(({ startedAt }) => startedAt !== null);
  const before = async (jobs: readonly JobRecord[]) => {
    await mapLimit(8, started(jobs), (job) => store.jobTraces.remove(job));
  };
  while (await store.jobs.removeOfPipeline(pipelineId, before)) if (Date.now() > deadline) return false;
  while (await store.artifacts.removeOfPipeline(projectId, pipelineId))
    if (Date.now() > deadline) return false;
  await store.table.put(scheduleMeasuring(projectId, now()));
  while (await store.pipelines.removeRest(projectId, sha, pipelineId))
    if (Date.now() > deadline) return false;
  return true;
}
