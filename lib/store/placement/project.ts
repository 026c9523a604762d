/** A project's location: its namespace and path. */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { claim, moveName, replaceName } from '../table/unique-names.ts';
import type { Put, Write } from '../table/write.ts';

/** The fields of a project's record that describe its namespace. */
export type ProjectPlacement = Pick<
  ProjectRecord,
  'namespaceId' | 'namespacePath' | 'namespaceName' | 'namespaceKind' | 'ownerId' | 'ancestorIds'
>;

/** Returns a project's location in a group. */
export function placementInGroup(
  group: GroupRecord,
  { path }: Pick<ProjectRecord, 'path'>,
): Omit<ProjectPlacement, 'ownerId'> & Pick<ProjectRecord, 'fullPath'> {
  return {
    namespaceId: group.id,
    namespacePath: group.fullPath,
    namespaceName: group.fullName,
    namespaceKind: 'group',
    fullPath: `${group.fullPath}/${path}`,
    ancestorIds: [...group.ancestorIds, group.id],
  };
}

/** Claims the path of a new project. */
export const claimProjectPath = (project: ProjectRecord): Put =>
  claim('path', project.fullPath, { type: 'project', id: project.id }, 'path', prefetchHints(project));

/** Moves the path. The old one redirects to the project until another owner takes it. */
export const moveProjectPath = (previous: ProjectRecord, current: ProjectRecord): Write[] =>
  moveName(
    'path',
    previous.fullPath,
    current.fullPath,
    { type: 'project', id: current.id },
    'path',
    prefetchHints(current),
  );

/**
 * Claims the name in the namespace, and frees the previous one; for a new project without `previous`, for a deleted one
 * without `current`. Names of projects are unique in their namespace.
 */
export const changeProjectName = (
  previous: ProjectRecord | undefined,
  current: ProjectRecord | undefined,
): Write[] => {
  const id = (current ?? previous)?.id ?? 0;
  return replaceName('projectname', nameIn(previous), nameIn(current), { type: 'project', id }, 'name');
};

const nameIn = (project: ProjectRecord | undefined) => project && `${project.namespaceId}/${project.name}`;

/** Stored with the path, so that a request can prefetch ancestors and refs together with the record. */
const prefetchHints = ({ ancestorIds, repositoryId }: ProjectRecord) => ({
  ancestorIds: [...ancestorIds],
  repositoryId,
});
