import type { PipelineRecord, ReportedState } from '../../store/pipelines/pipelines.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

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

/** Number of a pipeline's statuses in each state. */
export type StateCounts = Readonly<Partial<Record<ReportedState, number>>>;

/** The status of a pipeline, computed from those of its jobs. */
export function pipelineStatus(states: StateCounts): ReportedState {
  const has = (state: ReportedState) => (states[state] ?? 0) > 0;
  if (has('running')) return 'running';
  const ended = has('success') || has('failed') || has('canceled');
  if (has('pending')) return ended ? 'running' : 'pending';
  if (has('failed')) return 'failed';
  return has('canceled') ? 'canceled' : 'success';
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
