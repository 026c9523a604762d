import { hasEnded, isCancelable, type JobRecord, type PipelineRecord } from '../../records/pipelines.ts';
import { Stale } from '../../store/errors.ts';
import { MAINTENANCE, message, outboxWrite, outboxWrites } from '../../store/outbox/outbox.ts';
import { REMOVE_PIPELINE_JOB } from '../../store/pipelines/pipelines.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { clockEndOf } from '../jobs/time-limit.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { onlineFor } from '../runners/runners.ts';
import {
  advanceMessage,
  advancePipeline,
  type PipelineReference,
  type StartBridges,
  sumUp,
} from './advance-pipeline.ts';
import { changeJobs } from './change-jobs.ts';

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
  // What else follows, a worker does once, when all have changed; a minute later, where this ends halfway.
  const follows = advanceMessage(projectId, id);
  let isPromised = false;
  const summed = await retryOnConflict(async () => {
    const [current, project, all] = await Promise.all([
      store.pipelines.byId(projectId, id),
      store.projects.get(projectId),
      store.jobs.all(id),
    ]);
    if (current === undefined || project === undefined || !unless(all.filter(({ retried }) => !retried)))
      return current ?? pipeline;
    const at = now().toISOString();
    const open = all.filter(({ status, retried }) => !retried && isCancelable(status));
    const change = { status: 'canceled', finishedAt: at, updatedAt: at } as const;
    const changes = open.map((job) => ({ job, change }));
    if (changes.length > 0 && !isPromised) {
      await store.table.transact(outboxWrites([follows]));
      isPromised = true;
    }
    const jobs = await changeJobs(deps, { project, pipeline: current }, all, changes);
    // Child pipelines end with the job that waits for them.
    for (const { downstream } of open) {
      if (downstream?.projectId !== projectId) continue;
      const child = await store.pipelines.byId(projectId, downstream.pipelineId);
      if (child !== undefined) await cancelJobs(deps, child);
    }
    return sumUp(deps, current, jobs);
  }, isStale);
  if (isPromised) await store.outbox.deliver([follows]);
  return summed;
}

/** Milliseconds for which a job may wait for a runner. */
const MAX_PENDING_MS = 86_400_000;
/** The same where no runner that takes it is there. */
const MAX_STUCK_MS = 3_600_000;
const CHECK_EVERY_MS = 3_600_000;

/** Ends a job whose runner is gone. @returns milliseconds until the next look; undefined: it has ended */
export async function checkJob(
  { store, now }: Deps,
  { pipelineId, jobId }: { readonly pipelineId: number; readonly jobId: number },
): Promise<number | undefined> {
  return retryOnConflict(async () => {
    const job = await store.jobs.ofPipeline(pipelineId, jobId);
    if (job?.status !== 'running') return undefined;
    const { at, reason } = clockEndOf(job);
    if (at > now().getTime()) return at - now().getTime();
    await store.jobs.finish(job, { status: 'failed', failureReason: reason }, now());
    return undefined;
  }, isStale);
}

/**
 * Ends the jobs of a pipeline that nobody works on: those that no runner has taken for a day, or for an hour where none is
 * there that could; and those whose runner is gone.
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
    // A job that started a pipeline waits as long as that takes.
    const all = await store.jobs.all(reference.pipelineId);
    const jobs = all.filter(({ retried, kind }) => !retried && kind === 'build');
    const time = now().getTime();
    const at = now().toISOString();
    const waits = jobs.some((job) => waitedFor(job, time) > MAX_STUCK_MS);
    const isThere = waits ? await onlineFor(deps, project) : () => true;
    const changes = jobs.flatMap((job) => {
      const reason = overdue(job, isThere, time);
      if (reason === undefined) return [];
      const change = { status: 'failed', failureReason: reason, finishedAt: at, updatedAt: at } as const;
      return [{ job, change }];
    });
    await changeJobs(deps, { project, pipeline }, all, changes);
  }, isStale);
  // A message may have been lost with a queue.
  await advancePipeline(deps, reference, bridges === undefined ? {} : { bridges });
  return CHECK_EVERY_MS;
}

/** Milliseconds for which a job has waited for a runner; 0 for any other. */
const waitedFor = ({ status, queuedAt }: JobRecord, time: number): number =>
  status === 'pending' && queuedAt !== null ? time - Date.parse(queuedAt) : 0;

function overdue(job: JobRecord, isThere: (job: JobRecord) => boolean, time: number): string | undefined {
  if (job.status === 'running') {
    const { at, reason } = clockEndOf(job);
    return at <= time ? reason : undefined;
  }
  const waited = waitedFor(job, time);
  const stuck = waited > MAX_PENDING_MS || (waited > MAX_STUCK_MS && !isThere(job));
  return stuck ? 'stuck_or_timeout_failure' : undefined;
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
