import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { listGroupProjects } from '../groups/lists.ts';
import { listProjects } from '../projects/projects.ts';

/** Projects that a search outside of a project looks at: the newest. */
const MAX_PROJECTS = 100;

/**
 * The projects that a search looks at where what it searches has no index of its own: the one; the newest below the
 * group; without either, the newest that the actor is a member of.
 */
export async function searchedProjects(
  deps: Deps,
  actor: Actor,
  within: GroupAccess | ProjectAccess | undefined,
): Promise<{ readonly projects: readonly ProjectAccess[]; readonly complete: boolean }> {
  if (within !== undefined && 'project' in within) return { projects: [within], complete: true };
  const newest = { page: 1, perPage: MAX_PROJECTS, direction: 'desc', archived: false } as const;
  const { items, more } =
    within === undefined
      ? await listProjects(deps, actor, { ...newest, membership: true })
      : await listGroupProjects(deps, actor, within, { ...newest, deep: true, shared: false });
  return { projects: items, complete: !more };
}
