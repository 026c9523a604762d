import type { CiStatus, PipelineRecord, ReportedState } from '../../records/pipelines.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { sumOf } from '../jobs/status.ts';

/** Returns the newest pipeline of a commit; undefined if there is none or the actor may not read pipelines. */
export async function lastPipeline(
  { store }: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
): Promise<PipelineRecord | undefined> {
  if (!can(actor, access, 'read_pipelines')) return undefined;
  return store.pipelines.newest(access.project.id, sha);
}

/** Number of a pipeline's reported statuses in each state. */
export type StateCounts = Readonly<Partial<Record<ReportedState, number>>>;

/** The status of a pipeline: what its reported statuses and its jobs add up to. */
export function pipelineStatus(states: StateCounts, jobStatus: CiStatus | undefined): CiStatus {
  const counts: Partial<Record<CiStatus, number>> = { ...states };
  if (jobStatus !== undefined) counts[jobStatus] = (counts[jobStatus] ?? 0) + 1;
  return sumOf(counts);
}

/** Updates the counts for one status that changed its state, or is new if `from` is undefined. */
export function countTransition(
  states: StateCounts,
  from: ReportedState | undefined,
  to: ReportedState,
): StateCounts {
  const counts = { ...states };
  if (from !== undefined) counts[from] = (counts[from] ?? 0) - 1;
  counts[to] = (counts[to] ?? 0) + 1;
  return counts;
}
