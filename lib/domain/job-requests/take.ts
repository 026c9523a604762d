/** Which job a runner that asks gets. */
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { RunnerRecord } from '../../records/runners.ts';
import { Stale } from '../../store/errors.ts';
import type { QueuedJob } from '../../store/jobs/jobs.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { CHECK_JOB_JOB } from '../../store/pipelines/pipelines.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { groupScope, INSTANCE_SCOPE, projectScope } from '../jobs/scopes.ts';
import { clockEndOf, timeoutOf } from '../jobs/time-limit.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { fits } from '../runners/fits.ts';
import { newTokenText } from '../tokens/tokens.ts';

/** Jobs of each queue that are looked at first. */
const FIRST_PAGE = 200;
/** Jobs of a queue that are looked at as long as the runner takes none of them. */
const MAX_LOOKED_AT = 10_000;
/** Jobs of a queue that are looked at as long as those that it takes are of few projects. */
const MAX_FAIR = 2_000;
/** Of those that fit, how many are tried: others may take them first. */
const MAX_TRIED = 10;
/** Projects among which the next job is chosen by how many run. */
const MAX_COMPARED = 10;
/** Up to which running jobs are counted. */
const MAX_COUNTED = 20;

export interface TakenJob {
  readonly job: JobRecord;
  /** Undefined: it is gone. */
  readonly project: ProjectRecord | undefined;
  /** Seconds that it may run. */
  readonly timeout: number;
  /** The job's token, which nothing else tells. */
  readonly token: string;
}

/** The queues that a runner takes jobs from. */
export function queuesOf({ type, groupId, projectIds }: RunnerRecord): readonly string[] {
  if (type === 'instance_type') return [INSTANCE_SCOPE];
  return groupId !== null ? [groupScope(groupId)] : projectIds.map(projectScope);
}

/**
 * Gives a runner the next job: of the project with the fewest running jobs, and of that the oldest. Of several runners
 * that ask at once each gets another one.
 * @returns undefined where none waits that it takes
 * @throws 409 where others took all that it tried: it asks again
 */
export async function takeJob(deps: Deps, runner: RunnerRecord): Promise<TakenJob | undefined> {
  if (runner.paused) return undefined;
  const { jobs } = deps.store;
  const waiting = await Promise.all(queuesOf(runner).map((queue) => waitingFor(deps, runner, queue)));
  const candidates = waiting.flat();
  if (candidates.length === 0) return undefined;
  let lost = false;
  const tried = (await inTurn(deps, candidates)).slice(0, MAX_TRIED);
  for (const { projectId, pipelineId, id } of tried) {
    const [job, project] = await Promise.all([
      jobs.ofPipeline(pipelineId, id),
      deps.store.projects.get(projectId),
    ]);
    if (job?.status !== 'pending') {
      lost = true;
      continue;
    }
    const token = newTokenText('');
    const timeout = timeoutOf(job, project, runner);
    try {
      return { job: await taken(deps, job, { runner, timeout, token }), project, timeout, token };
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      lost = true;
    }
  }
  if (lost) throw conflict();
  return undefined;
}

/** Gives a job to a runner, and looks at it again when the clock may have to end it. @throws Stale */
function taken(
  { store, now }: Deps,
  job: JobRecord,
  {
    runner,
    timeout,
    token,
  }: { readonly runner: RunnerRecord; readonly timeout: number; readonly token: string },
): Promise<JobRecord> {
  const at = now();
  const runsUntil = new Date(at.getTime() + timeout * 1000).toISOString();
  const due = clockEndOf({ runsUntil, updatedAt: at.toISOString() }).at;
  const body = { pipelineId: job.pipelineId, jobId: job.id };
  const check = messageAt(MAINTENANCE, CHECK_JOB_JOB, body, new Date(due));
  const holder = { runnerId: runner.id, tokenHash: tokenHash(token), runsUntil };
  return store.jobs.take(job, holder, at, { alongside: [outboxWrite(check)] });
}

/** Jobs of a queue that a runner takes, the oldest first: as many as it takes to find some, of several projects. */
async function waitingFor({ store }: Deps, runner: RunnerRecord, queue: string): Promise<QueuedJob[]> {
  const wanted = runner.type === 'project_type' ? 1 : MAX_COMPARED;
  const found: QueuedJob[] = [];
  const projects = new Set<number>();
  let limit = FIRST_PAGE;
  let after = 0;
  for (let seen = 0; ; limit = 1000) {
    const page = await store.jobs.waiting(queue, limit, after);
    seen += page.length;
    for (const job of page) {
      if (!fits(runner, job)) continue;
      found.push(job);
      projects.add(job.projectId);
    }
    const most = found.length === 0 ? MAX_LOOKED_AT : MAX_FAIR;
    if (page.length < limit || projects.size >= wanted || seen >= most) return found;
    after = page.at(-1)!.id;
  }
}

/** Jobs in the order in which they are taken. */
async function inTurn(deps: Deps, candidates: readonly QueuedJob[]): Promise<readonly QueuedJob[]> {
  const byAge = candidates.toSorted((a, b) => a.id - b.id);
  const projects = [...new Set(byAge.map(({ projectId }) => projectId))].slice(0, MAX_COMPARED);
  if (projects.length === 1) return byAge;
  const counts = await Promise.all(projects.map((id) => deps.store.jobs.running(id, MAX_COUNTED)));
  const running = new Map(projects.map((id, i) => [id, counts[i]!]));
  const taken = new Map<number, number>();
  // As if each were taken: the second of a project comes after the first of all with fewer.
  const places = byAge.map((job) => {
    const before = taken.get(job.projectId) ?? 0;
    taken.set(job.projectId, before + 1);
    return { job, place: before + (running.get(job.projectId) ?? MAX_COUNTED) };
  });
  return places.toSorted((a, b) => a.place - b.place || a.job.id - b.job.id).map(({ job }) => job);
}

/** Puts a job back that its runner was not told of. Where that fails too, its time ends it. */
export const giveBack = (deps: Deps, taken: JobRecord): Promise<void> =>
  changeTaken(deps, taken, async (job) => {
    const change = {
      status: 'pending',
      runnerId: null,
      startedAt: null,
      updatedAt: deps.now().toISOString(),
    } as const;
    await deps.store.jobs.change([{ job, change }], { advance: false });
  });

/** Fails a job that its runner is not told of. */
export const failTaken = (deps: Deps, taken: JobRecord, failureReason: string): Promise<void> =>
  changeTaken(deps, taken, async (job) => {
    await deps.store.jobs.finish(job, { status: 'failed', failureReason }, deps.now());
  });

/** Changes a job that was just taken, as it is by now; nothing where others ended it. */
function changeTaken(
  { store }: Deps,
  { pipelineId, id, tokenHash }: JobRecord,
  change: (job: JobRecord) => Promise<void>,
): Promise<void> {
  return retryOnConflict(
    async () => {
      const job = await store.jobs.ofPipeline(pipelineId, id);
      if (job?.status === 'running' && job.tokenHash === tokenHash) await change(job);
    },
    (error) => error instanceof Stale,
  );
}
