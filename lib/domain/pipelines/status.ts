import type { PipelineRecord, ReportedState } from '../../store/pipelines/pipelines.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** The newest pipeline of a commit; undefined too for those who may not read pipelines. */
export async function lastPipeline(
  { store }: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
): Promise<PipelineRecord | undefined> {
  if (!can(actor, access, 'read_pipelines')) return undefined;
  return store.pipelines.newest(access.project.id, sha);
}

/** How many of a pipeline's statuses are in each state. */
export type StateCounts = Readonly<Partial<Record<ReportedState, number>>>;

/** What the statuses of a pipeline come to together. */
export function pipelineStatus(states: StateCounts): ReportedState {
  const has = (state: ReportedState) => (states[state] ?? 0) > 0;
  if (has('running')) return 'running';
  const ended = has('success') || has('failed') || has('canceled');
  if (has('pending')) return ended ? 'running' : 'pending';
  if (has('failed')) return 'failed';
  return has('canceled') ? 'canceled' : 'success';
}

/** One status less in the state it had, one more in the state it has. */
export function moved(states: StateCounts, from: ReportedState | undefined, to: ReportedState): StateCounts {
  const counts = { ...states };
  if (from !== undefined) counts[from] = (counts[from] ?? 0) - 1;
  counts[to] = (counts[to] ?? 0) + 1;
  return counts;
}
