/** Deletes what remains of deleted groups with their descendants: the deepest first, the group itself last. */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import type { OutboxMessage } from '../outbox/outbox.ts';
import { changeGroupName } from '../placement/group.ts';
import { groupKey, treeKey } from '../row-keys/groups.ts';
import type { Store } from '../store.ts';
import { release } from '../table/unique-names.ts';
import { PRESENT, type Write } from '../table/write.ts';
import { removers } from './removers.ts';

/** Returns writes and messages for the transaction that marks a descendant group or project as deleted. */
export type AlongsideRemoval = (
  kind: 'group' | 'project',
  record: GroupRecord | ProjectRecord,
) => Promise<{
  readonly alongside: readonly Write[];
  readonly messages: readonly OutboxMessage[];
  /** Who asked for it. */
  readonly deleterId?: number;
}>;

const none: AlongsideRemoval = async () => ({ alongside: [], messages: [] });

/**
 * Deletes a group that is marked as deleted, with its descendants. Idempotent; continues where an earlier call stopped.
 * @param deadline milliseconds since 1970; no new step begins after it
 * @returns whether nothing remains
 * @throws Error when the group is not marked as deleted; then nothing was changed
 */
export async function removeGroupContent(
  store: Store,
  groupId: number,
  deadline: number,
  alongside: AlongsideRemoval = none,
): Promise<boolean> {
  const group = await store.groups.getEvenDeleted(groupId);
  if (group === undefined) return true;
  if (group.deletedAt === null) throw new Error(`group ${groupId} is not deleted`);
  return empty(store, group, deadline, alongside);
}

/** @param group marked as deleted, so that nothing can be added to it any more */
async function empty(
  store: Store,
  group: GroupRecord,
  deadline: number,
  alongside: AlongsideRemoval,
): Promise<boolean> {
  for await (const id of store.groups.rowsBelow(group.id, 'DIRECT', 'group')) {
    if (Date.now() > deadline) return false;
    const child = await marked(store, id, group, alongside);
    if (child !== undefined && !(await empty(store, child, deadline, alongside))) return false;
  }
  for await (const id of store.groups.rowsBelow(group.id, 'DIRECT', 'project')) {
    if (Date.now() > deadline) return false;
    if (!(await removeProject(store, id, group, alongside))) return false;
  }
  for (const { ofGroup } of removers)
    if ((await ofGroup?.run?.(store, group, deadline)) === false) return false;
  await removeRecord(store, group);
  return true;
}

/**
 * Marks a child group as deleted, so that nothing is added to it after its content is listed.
 * @returns the child as marked by this or another run; undefined when it was moved or is gone
 */
async function marked(
  { groups, outbox }: Store,
  id: number,
  parent: GroupRecord,
  alongside: AlongsideRemoval,
): Promise<GroupRecord | undefined> {
  const child = await groups.getEvenDeleted(id);
  if (child === undefined || child.parentId !== parent.id || child.deletedAt !== null) {
    return child?.parentId === parent.id ? child : undefined;
  }
  try {
    const mark = {
      update: groupKey(id),
      set: { deletedAt: parent.deletedAt },
      remove: ['list', 'byId', 'byName', 'byPath'],
      add: { version: 1 },
      if: `${PRESENT} AND #parentId = :parent AND attribute_type(#deletedAt, :null)`,
      values: { parent: parent.id, null: 'NULL' },
      reason: 'group',
    };
    const more = await alongside('group', child);
    await outbox.commit([mark, ...more.alongside], more.messages);
  } catch (error) {
    if (!(error instanceof TransactionRefused && error.has('group'))) throw error;
    // The group was moved, or a concurrent run marked it.
    const current = await groups.getEvenDeleted(id);
    return current?.parentId === parent.id && current.deletedAt !== null ? current : undefined;
  }
  return groups.getEvenDeleted(id);
}

/** Deletes a project as its owner would. @returns false when another writer changed it */
async function removeProject(
  { projects }: Store,
  id: number,
  group: GroupRecord,
  alongside: AlongsideRemoval,
): Promise<boolean> {
  const project = await projects.get(id);
  if (project === undefined || project.namespaceId !== group.id) return true;
  try {
    await projects.remove(project, await alongside('project', project));
    return true;
  } catch (error) {
    if (error instanceof Missing) return true;
    if (error instanceof Stale) return false;
    throw error;
  }
}

async function removeRecord({ table }: Store, group: GroupRecord): Promise<void> {
  const shared = group.shares.map(({ groupId }) => treeKey(groupId, 'SHARED', 'group', group.id));
  await Promise.all(shared.map((row) => table.delete({ delete: row })));
  try {
    await table.transact([release('path', group.fullPath, { type: 'group', id: group.id }, 'path')]);
  } catch (error) {
    // The path now belongs to another group or project, or an earlier run released it.
    if (!(error instanceof TransactionRefused)) throw error;
  }
  try {
    await table.transact(changeGroupName(group, undefined));
  } catch (error) {
    // It was free since the deletion, and belongs to another group.
    if (!(error instanceof TransactionRefused)) throw error;
  }
  await table.transact(removers.flatMap(({ ofGroup }) => [...(ofGroup?.last?.(group) ?? [])]));
}
