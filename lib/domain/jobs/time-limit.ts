/** How long a job may run, and when the clock ends one whose runner does not. */
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { RunnerRecord } from '../../records/runners.ts';

/** Seconds that jobs of a project may run which has not said how long. */
export const DEFAULT_TIMEOUT = 3600;

/** Seconds: the shortest of what job or project and runner allow. */
export function timeoutOf(
  { timeout }: Pick<JobRecord, 'timeout'>,
  project: Pick<ProjectRecord, 'settings'> | undefined,
  { maximumTimeout }: Pick<RunnerRecord, 'maximumTimeout'>,
): number {
  const allowed = timeout ?? (project?.settings['build_timeout'] as number | undefined) ?? DEFAULT_TIMEOUT;
  return Math.min(allowed, maximumTimeout ?? allowed);
}

/** A runner ends a job itself when its time is over, if it can. */
const GRACE_MS = 30_000;
/** It still runs what comes after the script as long as it is heard of: every two minutes at least. */
const LATE_SILENCE_MS = 5 * 60_000;
const MAX_GRACE_MS = 10 * 60_000;
/** At any time: a runner that was not heard of for so long is gone. */
const SILENCE_MS = 3_600_000;

export interface ClockEnd {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly reason: 'job_execution_timeout' | 'stuck_or_timeout_failure';
}

/** When a running job is ended if its runner is not heard of again, and why. */
export function clockEndOf({ runsUntil, updatedAt }: Pick<JobRecord, 'runsUntil' | 'updatedAt'>): ClockEnd {
  const heard = Date.parse(updatedAt);
  const silent = { at: heard + SILENCE_MS, reason: 'stuck_or_timeout_failure' } as const;
  if (runsUntil === undefined) return silent;
  const until = Date.parse(runsUntil);
  const late = Math.min(Math.max(until + GRACE_MS, heard + LATE_SILENCE_MS), until + MAX_GRACE_MS);
  return silent.at < late ? silent : { at: late, reason: 'job_execution_timeout' };
}
