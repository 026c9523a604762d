/** What the statuses of jobs add up to: that of a stage, of what a job needs, of a pipeline. */

import { type CiStatus, hasEnded, type JobRecord } from '../../records/pipelines.ts';

/**
 * How a job counts in a sum. `warning`: it failed or was cancelled, and may. `ignored`: a manual one that nobody has to
 * start.
 */
export type Counted = CiStatus | 'warning' | 'ignored';
export type StatusCounts = Readonly<Partial<Record<Counted, number>>>;

export function countedAs({ status, allowFailure }: Pick<JobRecord, 'status' | 'allowFailure'>): Counted {
  if (!allowFailure) return status;
  if (status === 'failed' || status === 'canceled') return 'warning';
  return status === 'manual' ? 'ignored' : status;
}

export function countsOf(jobs: Iterable<Pick<JobRecord, 'status' | 'allowFailure'>>): StatusCounts {
  const counts: Partial<Record<Counted, number>> = {};
  for (const job of jobs) addTo(counts, countedAs(job));
  return counts;
}

export function addTo(counts: Partial<Record<Counted, number>>, counted: Counted): void {
  counts[counted] = (counts[counted] ?? 0) + 1;
}

/** Each status of a whole, and what else the parts may be: the first that fits is the sum. */
const ONLY: readonly (readonly [CiStatus, readonly Counted[]])[] = [
  ['skipped', ['skipped', 'ignored']],
  ['success', ['success', 'skipped', 'warning', 'ignored']],
  ['created', ['created', 'warning', 'ignored']],
  ['preparing', ['preparing', 'warning', 'ignored']],
  ['canceled', ['canceled', 'success', 'skipped', 'warning', 'ignored']],
  ['pending', ['pending', 'created', 'skipped', 'warning', 'ignored']],
];

/** Otherwise one of these decides, the first before the others. */
const ANY: readonly (readonly [Counted, CiStatus])[] = [
  ['running', 'running'],
  ['pending', 'running'],
  ['waiting_for_resource', 'waiting_for_resource'],
  ['manual', 'manual'],
  ['scheduled', 'scheduled'],
  ['preparing', 'preparing'],
  ['created', 'running'],
];

/** Returns the sum of some jobs; of none `success`. */
export function sumOf(counts: StatusCounts): CiStatus {
  const present = (Object.keys(counts) as Counted[]).filter((counted) => (counts[counted] ?? 0) > 0);
  if (present.length === 0) return 'success';
  for (const [sum, parts] of ONLY) if (present.every((counted) => parts.includes(counted))) return sum;
  for (const [counted, sum] of ANY) if (present.includes(counted)) return sum;
  return 'failed';
}

/** Returns the sum of the jobs that another one needs: each of them has to run. */
export function sumOfNeeds(counts: StatusCounts): CiStatus {
  const present = (Object.keys(counts) as Counted[]).filter((counted) => (counts[counted] ?? 0) > 0);
  if (present.includes('skipped') || present.includes('ignored')) return 'skipped';
  if (present.some((counted) => counted !== 'warning' && !hasEnded(counted as CiStatus))) return 'pending';
  return sumOf(counts);
}
