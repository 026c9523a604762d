/** Where a project stands, and the path that leads there. */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { claim, moveName } from '../table/unique-names.ts';
import type { Put, Write } from '../table/write.ts';

/** What a project's record says of its namespace. */
export type ProjectPlace = Pick<
  ProjectRecord,
  'namespaceId' | 'namespacePath' | 'namespaceName' | 'namespaceKind' | 'ownerId' | 'ancestorIds'
>;

/** Where a project stands in a group. */
export function placeInGroup(
  group: GroupRecord,
  { path }: Pick<ProjectRecord, 'path'>,
): Omit<ProjectPlace, 'ownerId'> & Pick<ProjectRecord, 'fullPath'> {
  return {
    namespaceId: group.id,
    namespacePath: group.fullPath,
    namespaceName: group.fullName,
    namespaceKind: 'group',
    fullPath: `${group.fullPath}/${path}`,
    ancestorIds: [...group.ancestorIds, group.id],
  };
}

/** Takes the path of a new project. */
export const claimProjectPath = (project: ProjectRecord): Put =>
  claim('path', project.fullPath, { type: 'project', id: project.id }, 'path', readNext(project));

/** The old path leads on to the project for as long as nobody else takes it. */
export const moveProjectPath = (was: ProjectRecord, is: ProjectRecord): Write[] =>
  moveName('path', was.fullPath, is.fullPath, { type: 'project', id: is.id }, 'path', readNext(is));

/** What whoever comes by the path reads next, beside the record. */
const readNext = ({ ancestorIds, repositoryId }: ProjectRecord) => ({
  ancestorIds: [...ancestorIds],
  repositoryId,
});
