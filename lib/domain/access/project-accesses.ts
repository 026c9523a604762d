import type { Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ProjectAccess } from './types.ts';
import { visibleProjects } from './visibility-filter.ts';

/** Returns the projects with these IDs and the viewer's levels, in the same order; undefined for those not visible. */
export async function projectAccesses(
  deps: Deps,
  viewer: Viewer,
  ids: readonly number[],
): Promise<(ProjectAccess | undefined)[]> {
  const filter = visibleProjects(deps, viewer);
  const [projects] = await Promise.all([deps.store.projects.getMany(ids), filter.prefetch(ids)]);
  const levels = await filter.levels(projects);
  return projects.map((project, i) => {
    const level = levels[i];
    return project && level !== undefined ? { project, level } : undefined;
  });
}
