/**
 * Deletes what belonged to a deleted user: personal projects, memberships, tokens, stars and follows. Comments,
 * statuses and what the user created elsewhere remain, with the ghost user as their author. A `hard` removal also
 * deletes comments and groups that have no other owner.
 */

import { snapshotOf } from '../../records/authors.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale } from '../errors.ts';
import { type UserRow as UserRowName, userPartition } from '../row-keys/users.ts';
import type { Store } from '../store.ts';
import type { DeletedUser, DeleteOwned, UserRow } from './remover.ts';
import { removers } from './removers.ts';

/**
 * Deletes what belonged to a deleted user. Idempotent. Finds rows through an index, which may be late: call it again
 * later.
 * @param deadline milliseconds since 1970; no new step begins after it
 * @param deleteOwned replaces the store's own deletion of projects and groups
 * @returns whether nothing remains in the index
 * @throws Error when the user exists; then nothing was changed
 */
export async function removeBelongings(
  store: Store,
  { userId, hard = false }: { readonly userId: number; readonly hard?: boolean },
  deadline: number,
  deleteOwned: DeleteOwned = {
    project: (project) => store.projects.remove(project),
    group: (group) => store.groups.remove(group),
  },
): Promise<boolean> {
  if ((await store.users.get(userId)) !== undefined) throw new Error(`user ${userId} is not removed`);
  const user: DeletedUser = {
    userId,
    hard,
    ghost: snapshotOf(await store.users.ghost()),
    deleteOwned: unlessChanged(deleteOwned),
  };
  for await (const row of store.table.queryAll({ index: 'byUser', partition: userPartition(userId) })) {
    if (Date.now() > deadline) return false;
    await removeRow(store, row as unknown as UserRow, user);
  }
  for (const { ofUser } of removers) if ((await ofUser?.run?.(store, user, deadline)) === false) return false;
  return true;
}

async function removeRow(store: Store, row: UserRow, user: DeletedUser): Promise<void> {
  const name = row.what.slice(0, row.what.indexOf('#')) as UserRowName;
  for (const { ofUserRows } of removers) await ofUserRows?.byRow[name]?.(store, row, user);
}

/** Ignores what was changed or deleted concurrently: the next call finds it again. */
function unlessChanged({ project, group }: DeleteOwned): DeleteOwned {
  const ignore = (error: unknown): void => {
    if (!(error instanceof Missing || error instanceof Stale)) throw error;
  };
  return {
    project: (record: ProjectRecord) => project(record).catch(ignore),
    group: (record: GroupRecord) => group(record).catch(ignore),
  };
}
