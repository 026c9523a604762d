/** Moves the jobs of a pipeline on, and says what they add up to. A worker does that after every change of a job. */

import { type CiStatus, hasEnded, type JobRecord, type PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { AlreadyExists, Stale } from '../../store/errors.ts';
import type { ChangedJob, JobChange } from '../../store/jobs/jobs.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  type OutboxMessage,
  outboxWrites,
} from '../../store/outbox/outbox.ts';
import { ADVANCE_PIPELINE_JOB } from '../../store/pipelines/pipelines.ts';
import type { Deps } from '../deps.ts';
import { closedJobs } from '../environments/protected.ts';
import { advance, type Move } from '../jobs/advance.ts';
import { repeated, repeatsItself } from '../jobs/repeat.ts';
import { scopesOf } from '../jobs/scopes.ts';
import { countsOf, sumOf } from '../jobs/status.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { changeJobs } from './change-jobs.ts';
import { withDeployments } from './deploy.ts';
import { followUps } from './follow-ups.ts';
import { pipelineStatus } from './status.ts';
import { after, changedStatuses, tellerOf, toldOfJobs } from './tell-hooks.ts';

export interface PipelineReference {
  readonly projectId: number;
  readonly pipelineId: number;
}

export const advanceMessage = (projectId: number, pipelineId: number): OutboxMessage =>
  message(MAINTENANCE, ADVANCE_PIPELINE_JOB, { projectId, pipelineId });

/** Starts the pipelines of jobs that start others; the same list where nothing changed. Workers alone have what makes them. */
export type StartBridges = (
  deps: Deps,
  place: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  jobs: readonly JobRecord[],
) => Promise<readonly JobRecord[]>;

const nothingStarted: StartBridges = async (_deps, _place, jobs) => jobs;

/** The jobs that a message tells to have changed, of which hooks are to hear. */
interface Heard {
  readonly changed: readonly ChangedJob[];
  readonly messageId: string;
}

/** It may run twice, at once too: each change is conditional on the job that was read. */
export const advancePipeline = (
  deps: Deps,
  reference: PipelineReference,
  { bridges = nothingStarted, heard }: { readonly bridges?: StartBridges; readonly heard?: Heard } = {},
): Promise<void> =>
  retryOnConflict(
    () => attempt(deps, reference, bridges, heard),
    (error) => error instanceof Stale,
  );

async function attempt(
  deps: Deps,
  { projectId, pipelineId }: PipelineReference,
  bridges: StartBridges,
  heard: Heard | undefined,
): Promise<void> {
  const { store } = deps;
  const [pipeline, project, all] = await Promise.all([
    store.pipelines.byId(projectId, pipelineId),
    store.projects.get(projectId),
    store.jobs.all(pipelineId),
  ]);
  if (pipeline === undefined || project === undefined || project.deletedAt !== null || all.length === 0)
    return;
  // Of the changes before those that follow from them.
  if (heard !== undefined && heard.changed.length > 0) {
    const messages = await toldOfJobs(deps, project, pipeline, heard.changed);
    if (messages.length > 0)
      await store.outbox.commit(
        [],
        messages.map((told) => after(heard.messageId, told)),
      );
  }
  const now = deps.now();
  let jobs: readonly JobRecord[] = await withRepeats(deps, all, now);
  for (;;) {
    const moves = advance(jobs, now);
    if (moves.length > 0) {
      jobs = await moved(deps, { project, pipeline }, jobs, moves, now);
      continue;
    }
    jobs = await withResources(deps, { project, pipeline }, jobs, now);
    const then = await bridges(deps, { project, pipeline }, jobs);
    if (then === jobs) break;
    jobs = then;
  }
  jobs = await withDeployments(deps, { project, pipeline }, jobs);
  await sumUp(deps, pipeline, jobs);
}

/** Adds the repetitions of failed jobs that are to be repeated by themselves. */
async function withRepeats(deps: Deps, jobs: readonly JobRecord[], now: Date): Promise<readonly JobRecord[]> {
  const failed = jobs.filter(repeatsItself);
  if (failed.length === 0) return jobs;
  const all = new Map(jobs.map((job) => [job.id, job]));
  for (const job of failed)
    for (const each of await repeated(
      deps,
      job,
      { userId: job.userId, attempt: job.attempt + 1, advance: false },
      now,
    ))
      all.set(each.id, each);
  return [...all.values()];
}

async function moved(
  deps: Deps,
  { project, pipeline }: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  jobs: readonly JobRecord[],
  moves: readonly Move[],
  now: Date,
): Promise<readonly JobRecord[]> {
  const all = new Map(jobs.map((job) => [job.id, job]));
  const scopes = scopesOf(project);
  const ready = moves.flatMap(({ id, to }) => (to === 'pending' ? all.get(id)! : []));
  const closed = await closedJobs(deps, project, ready);
  const changes = moves.map(({ id, to }) => {
    const job = all.get(id)!;
    return { job, change: closed.has(id) ? closedAt(now) : changeTo(job, to, { scopes, now }) };
  });
  return changeJobs(deps, { project, pipeline }, jobs, changes, wakeUps);
}

function changeTo(
  job: JobRecord,
  to: Move['to'],
  { scopes, now }: { readonly scopes: readonly string[]; readonly now: Date },
): Partial<JobRecord> {
  const at = now.toISOString();
  if (to === 'scheduled') {
    const due = new Date(now.getTime() + (job.startIn ?? 0) * 1000).toISOString();
    return { status: to, scheduledAt: due, updatedAt: at };
  }
  if (to === 'skipped') return { status: to, finishedAt: at, updatedAt: at };
  if (to === 'manual') return { status: to, updatedAt: at };
  return readied(job, scopes, at);
}

/** What becomes of a job whose user may not deploy to its environment when it is ready. */
const closedAt = (now: Date): Partial<JobRecord> => {
  const at = now.toISOString();
  return { status: 'failed', failureReason: 'protected_environment_failure', finishedAt: at, updatedAt: at };
};

/** Ready for a runner, or for its resource group. */
export const readied = (
  { resourceGroup, kind }: JobRecord,
  scopes: readonly string[],
  at: string,
): Partial<JobRecord> => ({
  status: resourceGroup === undefined ? 'pending' : 'waiting_for_resource',
  queuedAt: at,
  updatedAt: at,
  scopes: kind === 'bridge' ? [] : scopes,
});

/** A job that waits for a time is looked at when it has come. */
const wakeUps = ({ job: { projectId, pipelineId }, change: { status, scheduledAt } }: JobChange) =>
  status === 'scheduled' && scheduledAt != null
    ? [messageAt(MAINTENANCE, ADVANCE_PIPELINE_JOB, { projectId, pipelineId }, new Date(scheduledAt))]
    : [];

/**
 * Gives resource groups to the jobs that wait for them, and wakes the pipelines whose jobs wait for those that have become
 * free. Of all jobs of a project that wait for one, the oldest gets it.
 */
async function withResources(
  deps: Deps,
  { project, pipeline }: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  jobs: readonly JobRecord[],
  now: Date,
): Promise<readonly JobRecord[]> {
  const { store } = deps;
  const groups = new Set(jobs.flatMap(({ resourceGroup }) => resourceGroup ?? []));
  const all = new Map(jobs.map((job) => [job.id, job]));
  for (const group of groups) {
    const { projectId, pipelineId } = jobs[0]!;
    const [first] = await store.jobs.waitingFor(projectId, group, 1);
    if (first === undefined) continue;
    if (first.pipelineId !== pipelineId) {
      const body = { projectId, pipelineId: first.pipelineId };
      // Its own pipeline moves it on, if the group is free.
      if (await store.jobs.isFree(projectId, group))
        await store.outbox.commit([], [message(MAINTENANCE, ADVANCE_PIPELINE_JOB, body)]);
      continue;
    }
    const job = all.get(first.id);
    if (job?.status !== 'waiting_for_resource') continue;
    const change: JobChange = { job, change: { status: 'pending', updatedAt: now.toISOString() } };
    try {
      const messages = await toldOfJobs(deps, project, pipeline, changedStatuses([change]));
      const [changed] = await store.jobs.change([change], { advance: false, messages });
      all.set(job.id, changed!);
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }
  return [...all.values()];
}

/** Gives the pipeline the status that its jobs add up to. @throws Stale */
export async function sumUp(
  deps: Deps,
  previous: PipelineRecord,
  jobs: readonly JobRecord[],
): Promise<PipelineRecord> {
  const current = jobs.filter(({ retried }) => !retried);
  const jobStatus = sumOf(countsOf(current));
  const status = pipelineStatus(previous.states, jobStatus);
  if (status === previous.status && jobStatus === previous.jobStatus) return previous;
  const at = deps.now().toISOString();
  const ended = hasEnded(status);
  const outcome = status === 'success' || status === 'failed' ? { outcome: status } : {};
  const change = {
    status,
    jobStatus,
    ...outcome,
    updatedAt: at,
    startedAt: previous.startedAt ?? startOf(current, status, at),
    finishedAt: ended ? at : null,
    coverage: ended ? coverageOf(current) : (previous.coverage ?? null),
    duration: ended ? durationOf(jobs) : null,
  };
  const pipeline: PipelineRecord = { ...previous, ...change };
  const messages: OutboxMessage[] = await followUps(deps, { pipeline, previous }, tellerOf(deps, previous));
  const changed = await deps.store.pipelines.change(previous, change, outboxWrites(messages));
  await deps.store.outbox.deliver(messages);
  return changed;
}

const startOf = (jobs: readonly JobRecord[], status: CiStatus, at: string): string | null =>
  jobs.flatMap(({ startedAt }) => startedAt ?? []).sort()[0] ?? (status === 'running' ? at : null);

/** The mean of what jobs tell. */
function coverageOf(jobs: readonly JobRecord[]): number | null {
  const told = jobs.flatMap(({ coverage }) => coverage ?? []);
  return told.length === 0 ? null : told.reduce((sum, each) => sum + each, 0) / told.length;
}

/** Seconds in which any job ran. */
function durationOf(jobs: readonly JobRecord[]): number | null {
  const spans = jobs
    .flatMap(({ startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null
        ? []
        : [[Date.parse(startedAt), Date.parse(finishedAt)] as const],
    )
    .sort(([a], [b]) => a - b);
  if (spans.length === 0) return null;
  let total = 0;
  let until = 0;
  for (const [from, to] of spans) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return Math.round(total / 1000);
}
