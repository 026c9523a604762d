import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';

/** Whether a project uses Git LFS: as itself says, else as the group says that it is in. */
export function lfsEnabledIn({ settings }: ProjectRecord, group: GroupRecord | undefined): boolean {
  const own = settings['lfs_enabled'];
  return typeof own === 'boolean' ? own : group?.settings['lfs_enabled'] !== false;
}

/** The same, with the group read where that is asked. */
export async function isLfsEnabled(deps: Deps, project: ProjectRecord): Promise<boolean> {
  const { settings, namespaceKind, namespaceId } = project;
  const isAsked = settings['lfs_enabled'] === undefined && namespaceKind === 'group';
  return lfsEnabledIn(project, isAsked ? await deps.store.groups.get(namespaceId) : undefined);
}
