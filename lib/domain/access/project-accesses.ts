import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ProjectAccess } from './types.ts';
import { visibleProjects } from './visibility-filter.ts';

/** Projects by id as the actor may see them; undefined for the others. */
export async function accessesTo(
  deps: Deps,
  actor: Actor,
  ids: readonly number[],
): Promise<(ProjectAccess | undefined)[]> {
  const judge = visibleProjects(deps, actor);
  const [projects] = await Promise.all([deps.store.projects.getMany(ids), judge.prefetch(ids)]);
  const levels = await judge.levels(projects);
  return projects.map((project, i) => {
    const level = levels[i];
    return project && level !== undefined ? { project, level } : undefined;
  });
}
