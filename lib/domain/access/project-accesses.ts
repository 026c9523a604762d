import type { Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { accessAt } from './permissions.ts';
import type { ProjectAccess } from './types.ts';
import { visibleProjects } from './visibility-filter.ts';

/** Returns the projects with these IDs and the viewer's levels, in the same order; undefined for those not visible. */
export async function projectAccesses(
  deps: Deps,
  viewer: Viewer,
  ids: readonly number[],
): Promise<(ProjectAccess | undefined)[]> {
  return readThrough(deps, viewer, visibleProjects(deps, viewer), ids);
}

/**
 * Like {@link projectAccesses}, for a list that asks several times: reads each project once, and of the viewer's
 * memberships only those that the index shows.
 */
export function listedAccesses(
  deps: Deps,
  viewer: Viewer,
): (ids: readonly number[]) => Promise<(ProjectAccess | undefined)[]> {
  const filter = visibleProjects(deps, viewer, { many: true });
  const known = new Map<number, Promise<ProjectAccess | undefined>>();
  return (ids) => {
    const unknown = ids.filter((id) => !known.has(id));
    const read = unknown.length === 0 ? Promise.resolve([]) : readThrough(deps, viewer, filter, unknown);
    for (const [i, id] of unknown.entries())
      known.set(
        id,
        read.then((found) => found[i]),
      );
    return Promise.all(ids.map((id) => known.get(id)));
  };
}

async function readThrough(
  deps: Deps,
  viewer: Viewer,
  filter: ReturnType<typeof visibleProjects>,
  ids: readonly number[],
): Promise<(ProjectAccess | undefined)[]> {
  const [projects] = await Promise.all([deps.store.projects.getMany(ids), filter.prefetch(ids)]);
  const levels = await filter.levels(projects);
  return projects.map((project, i) => {
    const level = levels[i];
    return project && level !== undefined ? accessAt(viewer, project, level) : undefined;
  });
}
