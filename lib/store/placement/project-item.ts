/** A project's record as a table item, with its index attributes. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { folded, orderedBy, padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import { projectKey } from '../row-keys/projects.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { fieldsOf } from '../table/fields.ts';
import { type Check, type Item, PRESENT } from '../table/write.ts';

/** The list a project is in: archived projects are few and have their own. */
export const listClass = (visibility: Visibility, archived: boolean): string =>
  `PROJECT#${visibility}#${archived ? 'archived' : 'live'}`;

/** Sort keys of the indexes. */
export const sortValues = (project: ProjectRecord) => ({
  byId: padded(project.id),
  byName: orderedBy(folded(project.name), project.id),
  byPath: orderedBy(folded(project.path), project.id),
  byUpdated: orderedBy(project.updatedAt, project.id),
  byActivity: orderedBy(project.lastActivityAt, project.id),
  bySize: bySize(project.repositorySize ?? 0, project.id),
});

/** Sort key of a size in bytes. */
export const bySize = (bytes: number, id: number): string => orderedBy(String(bytes).padStart(16, '0'), id);

const LIST_ATTRIBUTES = [
  'list',
  'byId',
  'byName',
  'byPath',
  'byUpdated',
  'byActivity',
  'bySize',
  'who',
  'what',
];

/** Deleted projects are in no list. */
export function toItem(project: ProjectRecord): Item & { pk: string; sk: string } {
  const lists =
    project.deletedAt === null
      ? {
          list: listPartition(listClass(project.visibility, project.archived), project.id),
          ...sortValues(project),
          ...(project.namespaceKind === 'user'
            ? { who: userPartition(project.ownerId), what: userRow('OWN', project.id) }
            : {}),
        }
      : {};
  return { ...projectKey(project.id), ...project, ...lists };
}

export const listAttributes: readonly string[] = LIST_ATTRIBUTES;

/** Names of all fields of the record. */
export const PROJECT_FIELDS = fieldsOf<ProjectRecord>({
  id: true,
  name: true,
  path: true,
  fullPath: true,
  namespaceId: true,
  namespacePath: true,
  namespaceName: true,
  namespaceKind: true,
  ownerId: true,
  creatorId: true,
  ancestorIds: true,
  visibility: true,
  shares: true,
  description: true,
  archived: true,
  defaultBranch: true,
  repositoryId: true,
  networkId: true,
  storagePrefix: true,
  storageMove: true,
  forkedFromId: true,
  forkRootId: true,
  forksCount: true,
  starsCount: true,
  hooksCount: true,
  integrationsCount: true,
  languages: true,
  importStatus: true,
  importError: true,
  importSource: true,
  createdAt: true,
  updatedAt: true,
  lastActivityAt: true,
  deletion: true,
  deletedAt: true,
  avatar: true,
  repositorySize: true,
  lfsObjectsSize: true,
  storageSize: true,
  wikiSize: true,
  packagesSize: true,
  topics: true,
  settings: true,
  version: true,
});

const NOT_OF_RECORD = new Set(['pk', 'sk', 'w', ...LIST_ATTRIBUTES]);

export function fromItem(item: Item | undefined): ProjectRecord | undefined {
  if (item === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name)),
  ) as unknown as ProjectRecord;
}

/** Checks that the project exists, in a transaction that writes rows of it; refused as `project`. */
export const checkProjectExists = (projectId: number): Check => ({
  check: projectKey(projectId),
  if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
  values: { null: 'NULL' },
  reason: 'project',
});
