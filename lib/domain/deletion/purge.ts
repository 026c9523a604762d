import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { removeProjectRows, removeRepositoryRows } from '../../store/deletion/project.ts';
import { removeBelongings } from '../../store/deletion/user.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { SWEEP_JOB } from '../../store/repository/lazy-removal.ts';
import { WRITERS_GONE_MS } from '../../store/repository/removal.ts';
import { DELETE_USER_JOB } from '../../store/users/users.ts';
import type { Requester } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { removeGroup, removeWhole } from './mark-and-delete.ts';

/**
 * Removes what is left of projects and users that requests have deleted. Every function is idempotent, also when it runs
 * twice at once, and goes on where an earlier run stopped.
 *
 * `deadline` is in milliseconds since 1970. A function that cannot end before it returns false, and has to be called again.
 */

/** `networkId` and `storagePrefix` are given where the repository's own rows may be deleted already. */
interface RemovedRepository {
  readonly repositoryId: string;
  readonly networkId?: string;
  readonly storagePrefix?: string;
}

/** Deletes rows and bytes of a project whose record is marked as deleted; the record itself last. */
export async function removeProject(
  deps: Deps,
  {
    projectId,
    deleterId,
    ...repository
  }: RemovedRepository & { readonly projectId: number; readonly deleterId?: number },
  deadline: number,
): Promise<boolean> {
  const { store } = deps;
  const project = await store.projects.getEvenDeleted(projectId);
  if (project?.deletedAt === null) throw new Error(`project ${projectId} is not deleted`);
  const removed = { id: projectId, record: project, ...(deleterId === undefined ? {} : { deleterId }) };
  if (!(await removeProjectRows(store, removed, { ...repository, now: deps.now() }, deadline))) return false;
  if (project === undefined) return true;
  await again(deps, SWEEP_JOB, { ...repository });
  await store.projects.removeRecord(projectId);
  return true;
}

/** Deletes what late writers put into a repository after it was removed. */
export function sweepRepository(
  deps: Deps,
  repository: RemovedRepository,
  deadline: number,
): Promise<boolean> {
  return removeRepositoryRows(deps.store, { ...repository, now: deps.now() }, deadline);
}

/** Deletes what belonged to a deleted user. @param removal.by who asked for it, for the audit */
export async function removeUser(
  deps: Deps,
  removal: {
    readonly userId: number;
    readonly hard?: boolean;
    readonly last: boolean;
    readonly by?: Requester;
  },
  deadline: number,
): Promise<boolean> {
  const removing = {
    project: (project: ProjectRecord) => removeWhole(deps, project, removal.by),
    group: (group: GroupRecord) => removeGroup(deps, group, removal.by),
  };
  if (!(await removeBelongings(deps.store, removal, deadline, removing))) return false;
  if (!removal.last) await again(deps, DELETE_USER_JOB, { ...removal, last: true });
  return true;
}

/** Enqueues a job for when every writer that knew the subject has ended, and the indexes show all that they wrote. */
async function again(deps: Deps, type: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const at = new Date(deps.now().getTime() + WRITERS_GONE_MS);
  await deps.store.table.transact([outboxWrite(messageAt(MAINTENANCE, type, body, at))]);
}
