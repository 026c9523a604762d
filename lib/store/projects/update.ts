/** What changes of a project write: its record, its paths, its rows below groups, and whether its repository takes writes. */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { Missing, Stale } from '../errors.ts';
import type { OutboxMessage } from '../outbox/outbox.ts';
import { checkNotDeleted } from '../placement/group.ts';
import { moveProjectPath, type ProjectPlace } from '../placement/project.ts';
import { toItem } from '../placement/project-item.ts';
import { moveRows, treeRows } from '../placement/tree.ts';
import { changeGuards } from '../repository/state.ts';
import { userKey } from '../row-keys/users.ts';
import { indexMessage } from '../search/search.ts';
import { sameName } from '../table/unique-names.ts';
import { type Check, PRESENT, type Update, type Write } from '../table/write.ts';

/** What an update may set. A former path leads on until somebody else takes it. */
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

/** A change that is ready to be written, with whatever else its transaction is to hold. */
export interface ProjectUpdate {
  readonly updated: ProjectRecord;
  /** Refused as `version`, `namespace`, `moving` or a taken `path`. */
  readonly writes: readonly Write[];
  readonly messages: readonly OutboxMessage[];
}

/**
 * @param options.parent the group it stands in, for another path there or a higher visibility
 * @throws Stale while that group moves: a path below it may be two. While an owner moves it is refused as `moving`.
 */
export function projectUpdate(
  project: ProjectRecord,
  change: ProjectChange,
  { now, parent }: { readonly now: Date; readonly parent?: GroupRecord | undefined },
): ProjectUpdate {
  const updated = changed(project, change, now);
  const renamed = updated.path !== project.path;
  const rises = rank(updated) > rank(project);
  return {
    updated,
    writes: [
      recordWrite(project, updated, change),
      ...(renamed ? moveProjectPath(project, updated) : []),
      ...(project.namespaceKind === 'group' && (renamed || rises)
        ? [standsFor(parent, project, updated, renamed, now)]
        : []),
      ...(project.namespaceKind === 'user' && renamed ? [ownerStands(project)] : []),
      ...(updated.visibility === project.visibility ? [] : treeRows({ kind: 'project', ...updated })),
      ...(updated.archived === project.archived ? [] : guardWrites(updated)),
    ],
    messages: reindexed(project, updated),
  };
}

/**
 * Puts a project elsewhere. Whoever puts it into a group adds that this takes it (`group-place.ts`).
 * @param place with the path that the namespace has now
 */
export function projectTransfer(
  project: ProjectRecord,
  place: ProjectPlace,
  change: Pick<ProjectChange, 'visibility'>,
  now: Date,
): ProjectUpdate {
  const updated = changed({ ...project, ...place }, change, now);
  // What stands in a group is in no person's own list.
  const left = Object.keys(toItem(project)).filter((name) => !(name in toItem(updated)));
  return {
    updated,
    writes: [
      { ...recordWrite(project, updated, change), remove: left },
      ...moveProjectPath(project, updated),
      ...moveRows({ kind: 'project', ...project }, { kind: 'project', ...updated }),
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

function recordWrite(was: ProjectRecord, is: ProjectRecord, change: ProjectChange): Update {
  const { pk, sk, ...item } = toItem(is);
  const own = Object.entries(item).filter(([name]) => name in change || !MOVE_WITHOUT_VERSION.has(name));
  return {
    update: { pk, sk },
    set: {
      ...Object.fromEntries(own),
      ...('lastActivityAt' in change ? { byActivity: item['byActivity'] } : {}),
    },
    if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)`,
    values: { was: was.version, null: 'NULL' },
    reason: 'version',
  };
}

/** By pushes, imports, forks, stars and measuring: only set when a change is about them. */
const MOVE_WITHOUT_VERSION = new Set([
  'lastActivityAt',
  'byActivity',
  'defaultBranch',
  'importStatus',
  'importError',
  'forkedFromId',
  'forkRootId',
  'forksCount',
  'starsCount',
  'languages',
  'repositorySize',
  'bySize',
]);

/** That the group takes it as it is to be; for another path, that no path in it is about to change. */
function standsFor(
  parent: GroupRecord | undefined,
  was: ProjectRecord,
  is: ProjectRecord,
  renamed: boolean,
  now: Date,
): Check {
  if (parent === undefined) throw new Missing('parent');
  if (parent.id !== was.namespaceId) throw new TypeError('a project is named in its group');
  const open = checkNotDeleted(parent, is.visibility, now);
  if (!renamed) return open;
  if (parent.movedFrom !== null || !sameName(parent.fullPath, was.namespacePath)) throw new Stale('parent');
  return { ...open, if: `${open.if} AND attribute_type(#movedFrom, :null)` };
}

/** That the owner goes by the name in the project's path, and none of their projects is still on its way there. */
const ownerStands = ({ ownerId, namespacePath }: ProjectRecord): Check => ({
  check: userKey(ownerId),
  if: `#username = :username AND (attribute_not_exists(#movedFrom) OR attribute_type(#movedFrom, :null))`,
  values: { username: namespacePath, null: 'NULL' },
  reason: 'moving',
});

/** Pushes under way are refused with the same transaction. One that is being filled takes none anyway. */
function guardWrites({ repositoryId, archived, importStatus }: ProjectRecord): Update[] {
  if (archived && (importStatus === 'scheduled' || importStatus === 'started')) return [];
  return changeGuards(repositoryId, { state: archived ? 'read-only' : 'open' });
}

const reindexed = (was: ProjectRecord, is: ProjectRecord): OutboxMessage[] =>
  was.name === is.name && was.path === is.path ? [] : [indexMessage('project', is.id)];

const rank = ({ visibility }: ProjectRecord): number => VISIBILITIES.indexOf(visibility);
