/** What follows in a pipeline from the statuses of its jobs. Pure. */

import { type CiStatus, hasEnded, type JobRecord } from '../../records/pipelines.ts';
import { addTo, type Counted, countedAs, sumOf, sumOfNeeds } from './status.ts';

/** What decides about a job. */
export type AdvancingJob = Pick<
  JobRecord,
  | 'id'
  | 'name'
  | 'stageIndex'
  | 'status'
  | 'when'
  | 'allowFailure'
  | 'needs'
  | 'retried'
  | 'scheduledAt'
  | 'resourceGroup'
>;

/** What a job becomes. `pending`: it is ready for a runner, or for its resource group. */
export interface Move {
  readonly id: number;
  readonly to: Extract<CiStatus, 'pending' | 'manual' | 'scheduled' | 'skipped'>;
}

/** The sums of what comes before with which a job goes on; with any other ended one it is skipped. */
function goesOnWith({ when, needs }: AdvancingJob): readonly CiStatus[] {
  if (when === 'always') return ['success', 'failed', 'skipped'];
  if (when === 'on_failure') return ['failed'];
  // What a job needs must have run; of stages before it, nothing need have.
  return needs === undefined ? ['success', 'skipped'] : ['success'];
}

/**
 * Returns what becomes of the jobs of a pipeline: of all at once, however far that goes.
 * @param jobs those that were replaced are ignored
 * @param now for jobs that wait for a time
 */
export function advance(jobs: readonly AdvancingJob[], now: Date): Move[] {
  const moves: Move[] = [];
  const current = new Map<string, AdvancingJob>();
  for (const job of jobs) if (!job.retried) current.set(job.name, job);
  const counted = new Map<string, Counted>();
  const before: Partial<Record<Counted, number>> = {};
  let stage: { readonly index: number; readonly of: Counted[] } = { index: -1, of: [] };
  for (const job of inOrder(current)) {
    if (job.stageIndex !== stage.index) {
      for (const each of stage.of) addTo(before, each);
      stage = { index: job.stageIndex, of: [] };
    }
    const sum =
      job.needs === undefined
        ? sumOf(before)
        : sumOfNeeds(tally(job.needs.flatMap((need) => counted.get(need) ?? [])));
    const to = moveOf(job, sum, now);
    if (to !== undefined) moves.push({ id: job.id, to });
    const as = countedAs({ status: to ?? job.status, allowFailure: job.allowFailure });
    counted.set(job.name, as);
    stage.of.push(as);
  }
  return moves;
}

function moveOf(job: AdvancingJob, sum: CiStatus, now: Date): Move['to'] | undefined {
  if (job.status === 'scheduled')
    return job.scheduledAt !== null && job.scheduledAt <= now.toISOString() ? 'pending' : undefined;
  if (job.status !== 'created' || !hasEnded(sum)) return undefined;
  if (!goesOnWith(job).includes(sum)) return 'skipped';
  if (job.when === 'delayed') return 'scheduled';
  return job.when === 'manual' ? 'manual' : 'pending';
}

function tally(all: readonly Counted[]): Partial<Record<Counted, number>> {
  const counts: Partial<Record<Counted, number>> = {};
  for (const each of all) addTo(counts, each);
  return counts;
}

/** By stage, and within one each after what it needs. */
function inOrder(jobs: ReadonlyMap<string, AdvancingJob>): AdvancingJob[] {
  const ordered: AdvancingJob[] = [];
  const seen = new Set<string>();
  const stages = [...jobs.values()].sort((a, b) => a.stageIndex - b.stageIndex || a.id - b.id);
  for (const start of stages) {
    const path = [{ job: start, next: 0 }];
    if (seen.has(start.name)) continue;
    seen.add(start.name);
    while (path.length > 0) {
      const at = path.at(-1)!;
      const need = at.job.needs?.[at.next++];
      if (need === undefined) {
        ordered.push(at.job);
        path.pop();
        continue;
      }
      const other = jobs.get(need);
      // What is needed of earlier stages comes before in any case.
      if (other === undefined || other.stageIndex !== at.job.stageIndex || seen.has(need)) continue;
      seen.add(need);
      path.push({ job: other, next: 0 });
    }
  }
  return ordered;
}
