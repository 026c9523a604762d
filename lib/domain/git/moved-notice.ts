import type { ProjectRecord } from '../../records/projects.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Deps } from '../deps.ts';
import { cloneRoot, cloneUrl } from '../repository/clone-url.ts';

/**
 * Lines that tell a Git client its project's new URL, if it was reached by a former path. For callers who may see the
 * project only.
 * @param path by which the project was found
 */
export async function movedNotice(
  deps: Deps,
  project: ProjectRecord,
  path: string,
  baseUrl: string,
): Promise<string | undefined> {
  if (sameName(path, project.fullPath)) return undefined;
  // While a group is being moved, the project is found by its new path, and its record does not name that yet.
  const holder = await deps.store.names.holder('path', path);
  if (holder === undefined || holder.current) return undefined;
  const url = cloneUrl(project, await cloneRoot(deps, baseUrl));
  return `
Project '${path}' was moved to '${project.fullPath}'.

Please update your Git remote:

  git remote set-url origin ${url}

`;
}
