/** Statistics of projects, restricted to what the actor may see. */
import type { ProjectStatistics } from '../../store/statistics/statistics.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** Returns statistics by project ID, for the projects whose statistics the actor may see. One round trip. */
export async function statisticsOf(
  deps: Deps,
  actor: Actor,
  accesses: readonly ProjectAccess[],
): Promise<Map<number, ProjectStatistics | undefined>> {
  const ids = accesses
    .filter((access) => can(actor, access, 'read_statistics'))
    .map(({ project }) => project.id);
  const found = await deps.store.statistics.ofProjects(ids);
  return new Map(ids.map((id, i) => [id, found[i]]));
}
