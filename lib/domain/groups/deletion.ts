/** Deletion of groups: immediate, or delayed and restorable. */

import type { GroupRecord } from '../../records/groups.ts';
import { Missing } from '../../store/errors.ts';
import type { GroupChange } from '../../store/groups/groups.ts';
import type { Write } from '../../store/table/write.ts';
import { isMarkedForDeletion } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { requesterOf } from '../audit-events/event.ts';
import { auditedResourceEvent } from '../audit-events/setting-changes.ts';
import { emptyGroup } from '../deletion/empty-group.ts';
import { deletionMark, removeGroup, scheduleDeletion } from '../deletion/mark-and-delete.ts';
import { requireGroupDeletion } from '../deletion/protection.ts';
import type { Deps } from '../deps.ts';
import { notFound, refused } from '../errors.ts';
import { HELP_MS, locked } from './groups.ts';

export interface GroupDeletionInput {
  /** Delete now. Only for a subgroup that is already marked for deletion. */
  readonly permanently?: boolean | undefined;
  /** Full path of the group, required as a confirmation. */
  readonly fullPath?: string | undefined;
}

/**
 * Marks a group for deletion if delayed deletion is on: nothing can be added to it, its content does not change. Else
 * deletes it with immediate effect. Idempotent.
 * @throws 400, 403, 404, 409
 */
export async function askForGroupDeletion(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  { permanently = false, fullPath }: GroupDeletionInput,
): Promise<void> {
  const { group } = access;
  await requireGroupDeletion(deps, actor, group.id);
  if (permanently && isMarkedForDeletion(group)) {
    if (group.parentId === null)
      throw refused('`permanently_remove` option is only available for subgroups.');
    if (fullPath?.toLowerCase() !== group.fullPath.toLowerCase())
      throw refused('`full_path` is incorrect. You must enter the complete path for the subgroup.');
    return deleteGroup(deps, actor, access);
  }
  const mark = await deletionMark(deps, 'group');
  if (mark === undefined) return deleteGroup(deps, actor, access);
  if (permanently) throw refused('Group must be marked for deletion first.');
  if (isMarkedForDeletion(group)) return;
  await change(deps, group, { deletion: mark }, [
    scheduleDeletion({ kind: 'group', id: group.id }, mark, requesterOf(actor)),
    await auditedResourceEvent(deps, actor, 'Group', group, { custom_message: 'Group marked for deletion' }),
  ]);
}

/** Cancels a delayed deletion. @throws 400 for a group that is not marked for deletion, 409 */
export async function restoreGroup(deps: Deps, actor: Actor, { group }: GroupAccess): Promise<GroupRecord> {
  if (!isMarkedForDeletion(group)) throw refused('Group has not been marked for deletion');
  const event = await auditedResourceEvent(deps, actor, 'Group', group, { custom_message: 'Group restored' });
  return change(deps, group, { deletion: null }, [event]);
}

/**
 * Deletes a group and its descendants with immediate effect. The content of a small group is deleted before the
 * response, so that its paths are free for a new group of the same name; a worker deletes the rest.
 * @throws 404, 409 on a concurrent change
 */
async function deleteGroup(deps: Deps, actor: Actor, { group }: GroupAccess): Promise<void> {
  const by = requesterOf(actor);
  try {
    await removeGroup(deps, group, by);
  } catch (error) {
    throw translated(error);
  }
  // The job repeats what fails here.
  await emptyGroup(deps, { groupId: group.id, by }, Date.now() + HELP_MS).catch(() => {});
}

async function change(
  { store, now }: Deps,
  group: GroupRecord,
  to: GroupChange,
  alongside: readonly Write[] = [],
): Promise<GroupRecord> {
  try {
    return await store.groups.update(group, to, { now: now(), alongside });
  } catch (error) {
    throw translated(error);
  }
}

const translated = (error: unknown) => (error instanceof Missing ? notFound('Group') : locked(error));
