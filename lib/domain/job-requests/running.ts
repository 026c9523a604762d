/** What a runner reports of the job that it runs. */
import type { JobRecord } from '../../records/pipelines.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden } from '../errors.ts';
import { runningJob } from '../jobs/running-job.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { noteContact } from '../runners/registration.ts';
import { coverageOf } from './coverage.ts';
import { hide, secretsOf } from './masking.ts';

/** Bytes that a job may print. */
const MAX_TRACE = 100 * 1024 * 1024;
/** Pieces in which it may: whoever reads the trace lists them all. A month of what runners send. */
const MAX_PIECES = 100_000;

/** Why jobs fail, as runners may say. */
const FAILURE_REASONS: ReadonlySet<string> = new Set([
  'unknown_failure',
  'script_failure',
  'runner_system_failure',
  'missing_dependency_failure',
  'runner_unsupported',
  'stale_schedule',
  'job_execution_timeout',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
  'image_pull_failure',
]);

export interface RunnerReport {
  readonly state: 'running' | 'success' | 'failed';
  readonly failureReason?: string | undefined;
  readonly exitCode?: number | undefined;
}

/** Ends a job, or says that it goes on. @throws 403 where it is not running with this token */
export async function reportJob(
  deps: Deps,
  id: number,
  token: string,
  { state, failureReason, exitCode }: RunnerReport,
): Promise<JobRecord> {
  const attempt = async () => {
    const job = await runningJob(deps, id, token);
    if (state === 'running') {
      await noteHeard(deps, job);
      return job;
    }
    const reason = FAILURE_REASONS.has(failureReason ?? '') ? failureReason! : 'unknown_failure';
    const allowed =
      state === 'failed' && exitCode !== undefined && job.allowedExitCodes?.includes(exitCode) === true;
    const end =
      state === 'success'
        ? ({ status: 'success', failureReason: null } as const)
        : ({
            status: 'failed',
            failureReason: reason,
            ...(allowed ? { allowFailure: true } : {}),
          } as const);
    const coverage = await coverageOf(deps, job);
    return deps.store.jobs.finish(
      job,
      { ...end, ...(coverage === undefined ? {} : { coverage }) },
      deps.now(),
    );
  };
  return retryOnConflict(attempt, (error) => error instanceof Stale);
}

/** Milliseconds for which the runner of a job need not be noted as heard of. */
const NOTED_FOR = 60_000;

/** Notes that the runner of a job was heard of: neither has the job lost it, nor has it stopped asking for others. */
async function noteHeard(deps: Deps, job: JobRecord): Promise<void> {
  const { store, now } = deps;
  if (now().getTime() - Date.parse(job.updatedAt) < NOTED_FOR) return;
  const [runner] = await Promise.all([
    job.runnerId === null ? undefined : store.runners.get(job.runnerId),
    store.jobs.heard(job, now()),
  ]);
  if (runner !== undefined) await noteContact(deps, runner, {}, runner.ipAddress);
}

/** A piece of a trace that does not begin where the trace ends. */
export class OutOfRange extends Error {
  override readonly name = 'OutOfRange';
  /** Bytes that there are. */
  readonly size: number;
  constructor(size: number) {
    super('the piece does not follow');
    this.size = size;
  }
}

/**
 * Appends to the trace of a running job, without its secrets.
 * @returns the size of the trace
 * @throws 403; OutOfRange; 413 and ends the job where it prints too much
 */
export async function appendTrace(
  deps: Deps,
  id: number,
  token: string,
  start: number,
  read: () => Promise<Uint8Array>,
): Promise<number> {
  const { jobTraces } = deps.store;
  const job = await runningJob(deps, id, token);
  const [bytes, before, secrets] = await Promise.all([
    read(),
    jobTraces.state(job),
    secretsOf(deps, job, token),
    noteHeard(deps, job),
  ]);
  const { size, pieces, begun } = before;
  if (start !== size) throw new OutOfRange(size);
  if (bytes.length === 0) return size;
  if (size + bytes.length > MAX_TRACE || pieces >= MAX_PIECES) {
    const end = { status: 'failed', failureReason: 'trace_size_exceeded' } as const;
    await deps.store.jobs.finish(job, end, deps.now()).catch((error: unknown) => {
      if (!(error instanceof Stale)) throw error;
    });
    throw new DomainError('too-large', 'The trace is too long');
  }
  try {
    return await jobTraces.append(job, before, hide(bytes, secrets, begun));
  } catch (error) {
    if (error instanceof Stale) throw new OutOfRange(await jobTraces.size(job));
    throw error instanceof Missing ? forbidden() : error;
  }
}
