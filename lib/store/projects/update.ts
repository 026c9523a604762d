/** The writes of a project's change: record, paths, rows at its ancestors, and the repository's state. */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { Missing, Stale } from '../errors.ts';
import type { OutboxMessage } from '../outbox/outbox.ts';
import { checkNotDeleted } from '../placement/group.ts';
import { changeProjectName, moveProjectPath, type ProjectPlacement } from '../placement/project.ts';
import { toItem } from '../placement/project-item.ts';
import { moveRows, treeRows } from '../placement/tree.ts';
import { changeGuards } from '../repository/state.ts';
import { userKey } from '../row-keys/users.ts';
import { indexMessage } from '../search/search.ts';
import { sameName } from '../table/unique-names.ts';
import { type Check, PRESENT, type Update, type Write } from '../table/write.ts';
import { topicsChanged } from '../topics/assignments.ts';

/** What an update may set. The previous path redirects until another owner takes it. */
export type ProjectChange = Partial<
  Pick<
    ProjectRecord,
    | 'name'
    | 'path'
    | 'visibility'
    | 'description'
    | 'archived'
    | 'deletion'
    | 'defaultBranch'
    | 'topics'
    | 'settings'
    | 'lastActivityAt'
    | 'avatar'
  >
>;

/** A change that is ready to be written, with the messages of its transaction. */
export interface ProjectUpdate {
  readonly updated: ProjectRecord;
  /** Refused as `version`, `namespace`, `moving` or a taken `path` or `name`. */
  readonly writes: readonly Write[];
  readonly messages: readonly OutboxMessage[];
}

/**
 * @param options.parent the project's group, required for another path or a higher visibility
 * @throws Stale while that group moves, when paths below it are ambiguous. While the owner of a personal namespace is
 *   being renamed, the writes are refused as `moving`.
 */
export function projectUpdate(
  project: ProjectRecord,
  change: ProjectChange,
  { now, parent }: { readonly now: Date; readonly parent?: GroupRecord | undefined },
): ProjectUpdate {
  const updated = changed(project, change, now);
  const renamed = updated.path !== project.path;
  const raised = rank(updated) > rank(project);
  return {
    updated,
    writes: [
      recordWrite(project, updated, change),
      ...(renamed ? moveProjectPath(project, updated) : []),
      ...changeProjectName(project, updated),
      ...(project.namespaceKind === 'group' && (renamed || raised)
        ? [checkParent(parent, project, updated, renamed, now)]
        : []),
      ...(project.namespaceKind === 'user' && renamed ? [checkOwnerNotMoving(project)] : []),
      ...(updated.visibility === project.visibility ? [] : treeRows({ kind: 'project', ...updated })),
      ...(updated.archived === project.archived ? [] : guardWrites(updated)),
      ...topicsChanged(project, updated, now),
    ],
    messages: reindexed(project, updated),
  };
}

/**
 * Transfers a project. The caller adds the checks of the target group or owner (`placement/`).
 * @param place the target, with the current path of the namespace
 */
export function projectTransfer(
  project: ProjectRecord,
  place: ProjectPlacement,
  change: Pick<ProjectChange, 'visibility'>,
  now: Date,
): ProjectUpdate {
  const updated = changed({ ...project, ...place }, change, now);
  // A project in a group loses the index attributes of a personal namespace.
  const obsolete = Object.keys(toItem(project)).filter((name) => !(name in toItem(updated)));
  return {
    updated,
    writes: [
      { ...recordWrite(project, updated, change), remove: obsolete },
      ...moveProjectPath(project, updated),
      ...changeProjectName(project, updated),
      ...moveRows({ kind: 'project', ...project }, { kind: 'project', ...updated }),
      ...topicsChanged(project, updated, now),
    ],
    messages: reindexed(project, updated),
  };
}

const changed = (project: ProjectRecord, change: ProjectChange, now: Date): ProjectRecord => ({
  ...project,
  ...change,
  fullPath: `${project.namespacePath}/${change.path ?? project.path}`,
  updatedAt: now.toISOString(),
  version: project.version + 1,
});

function recordWrite(previous: ProjectRecord, current: ProjectRecord, change: ProjectChange): Update {
  const { pk, sk, ...item } = toItem(current);
  const own = Object.entries(item).filter(([name]) => name in change || !UNVERSIONED.has(name));
  return {
    update: { pk, sk },
    set: {
      ...Object.fromEntries(own),
      ...('lastActivityAt' in change ? { byActivity: item['byActivity'] } : {}),
    },
    if: `${PRESENT} AND #version = :previous AND attribute_type(#deletedAt, :null)`,
    values: { previous: previous.version, null: 'NULL' },
    reason: 'version',
  };
}

/** Changed by pushes, imports, forks, stars, hooks, integrations and measuring without a new version: only set when the change includes them. */
const UNVERSIONED = new Set([
  'lastActivityAt',
  'byActivity',
  'defaultBranch',
  'importStatus',
  'importError',
  'forkedFromId',
  'forkRootId',
  'forksCount',
  'starsCount',
  'hooksCount',
  'integrationsCount',
  'languages',
  'repositorySize',
  'lfsObjectsSize',
  'storageSize',
  'wikiSize',
  'packagesSize',
  'bySize',
]);

/** Checks that the group allows the project's visibility; for another path, that the group is not moving. */
function checkParent(
  parent: GroupRecord | undefined,
  previous: ProjectRecord,
  current: ProjectRecord,
  renamed: boolean,
  now: Date,
): Check {
  if (parent === undefined) throw new Missing('parent');
  if (parent.id !== previous.namespaceId) throw new TypeError('a project current named in its group');
  const exists = checkNotDeleted(parent, current.visibility, now);
  if (!renamed) return exists;
  if (parent.movedFrom !== null || !sameName(parent.fullPath, previous.namespacePath))
    throw new Stale('parent');
  return { ...exists, if: `${exists.if} AND attribute_type(#movedFrom, :null)` };
}

/** Checks that the owner still has the username in the project's path, and that no rename is in progress. */
const checkOwnerNotMoving = ({ ownerId, namespacePath }: ProjectRecord): Check => ({
  check: userKey(ownerId),
  if: `#username = :username AND (attribute_not_exists(#movedFrom) OR attribute_type(#movedFrom, :null))`,
  values: { username: namespacePath, null: 'NULL' },
  reason: 'moving',
});

/** Sets the repository read-only or open, which also refuses pushes in progress. During an import it is read-only anyway. */
function guardWrites({ repositoryId, archived, importStatus }: ProjectRecord): Update[] {
  if (archived && (importStatus === 'scheduled' || importStatus === 'started')) return [];
  return changeGuards(repositoryId, { state: archived ? 'read-only' : 'open' });
}

const reindexed = (previous: ProjectRecord, current: ProjectRecord): OutboxMessage[] =>
  previous.name === current.name && previous.path === current.path
    ? []
    : [indexMessage('project', current.id)];

const rank = ({ visibility }: ProjectRecord): number => VISIBILITIES.indexOf(visibility);
