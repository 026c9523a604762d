/** Repeating jobs: a copy takes the place of what ran before. */

import type { JobRecord, JobSpec } from '../../records/pipelines.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

/** Whether a failed job is to be repeated without anybody asking. */
export function repeatsItself({ status, retried, retry, attempt, failureReason }: JobRecord): boolean {
  if (status !== 'failed' || retried || retry === undefined || attempt >= retry.max) return false;
  // Only somebody who wants to go back repeats the one, who may deploy the other.
  if (failureReason === 'forward_deployment_failure' || failureReason === 'protected_environment_failure')
    return false;
  return retry.when.includes('always') || retry.when.includes(failureReason ?? 'unknown_failure');
}

export interface Repetition {
  readonly userId: number;
  /** How often it was repeated by itself. */
  readonly attempt: number;
  /** Whether a message is to move the pipeline on. */
  readonly advance: boolean;
  /** What else the new job is: by default it waits for what comes before it. */
  readonly started?: Partial<JobRecord>;
  readonly alongside?: readonly Write[];
}

/** Replaces a job by a new one. @returns both. @throws Stale where it was changed or replaced meanwhile */
export async function repeated(
  { store }: Deps,
  job: JobRecord,
  { userId, attempt, advance, started = {}, alongside = [] }: Repetition,
  now: Date,
): Promise<readonly [JobRecord, JobRecord]> {
  const [id, spec] = await Promise.all([store.jobs.reserveIds(1), store.jobs.spec(job)]);
  const copy = { ...copyOf(job, id, userId, attempt, now.toISOString()), ...started };
  const change = { job, change: { retried: true, updatedAt: now.toISOString() } };
  const created = [{ job: copy, spec: spec ?? NO_SPEC }];
  const [former] = await store.jobs.change([change], { created, advance, alongside });
  return [former!, copy];
}

const NO_SPEC: JobSpec = { script: [], crossNeeds: [], variables: {} };

function copyOf(job: JobRecord, id: number, userId: number, attempt: number, at: string): JobRecord {
  const { tokenHash: _t, endedTokenHash: _e, deployment: _d, downstream: _p, ...rest } = job;
  const { privateArtifacts: _a, upstream: _u, runsUntil: _r, ...same } = rest;
  return {
    ...same,
    id,
    userId,
    attempt,
    status: 'created',
    retried: false,
    createdAt: at,
    updatedAt: at,
    queuedAt: null,
    startedAt: null,
    finishedAt: null,
    scheduledAt: null,
    failureReason: null,
    coverage: null,
    runnerId: null,
    artifacts: [],
    artifactsExpireAt: null,
    erasedAt: null,
    erasedById: null,
    scopes: [],
    version: 1,
  };
}
