import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';

/**
 * Whether projects use Git LFS, in their order: each as itself says, else as the group says that it is in. Groups of several
 * projects are read eventually consistent, at half the cost: a list shows it.
 */
export async function lfsEnabled(deps: Deps, projects: readonly ProjectRecord[]): Promise<boolean[]> {
  const asked = projects.filter(
    ({ settings, namespaceKind }) => settings['lfs_enabled'] === undefined && namespaceKind === 'group',
  );
  const ids = [...new Set(asked.map(({ namespaceId }) => namespaceId))];
  const groups =
    ids.length === 0 ? [] : await deps.store.groups.getMany(ids, { consistent: projects.length === 1 });
  const off = new Set(ids.filter((_, i) => groups[i]?.settings['lfs_enabled'] === false));
  return projects.map(({ settings, namespaceKind, namespaceId }) => {
    const own = settings['lfs_enabled'];
    return typeof own === 'boolean' ? own : !(namespaceKind === 'group' && off.has(namespaceId));
  });
}

export const isLfsEnabled = async (deps: Deps, project: ProjectRecord): Promise<boolean> =>
  (await lfsEnabled(deps, [project]))[0]!;
