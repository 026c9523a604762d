/** Deletions of groups: at once, or some days after somebody asked, and taken back until then. */

import type { GroupRecord } from '../../records/groups.ts';
import { Missing } from '../../store/errors.ts';
import type { GroupChange } from '../../store/groups/groups.ts';
import type { Write } from '../../store/table/write.ts';
import { isMarkedForDeletion } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { requesterOf } from '../audit-events/event.ts';
import { happened } from '../audit-events/setting-changes.ts';
import { deletionMark, emptyGroup, removeGroup, scheduleDeletion } from '../deletion/mark-and-delete.ts';
import { requireGroupDeletion } from '../deletion/protection.ts';
import type { Deps } from '../deps.ts';
import { notFound, refused } from '../errors.ts';
import { HELP_MS, locked } from './groups.ts';

export interface GroupDeletionInput {
  /** Without waiting any longer, which only a group inside another can be asked for that waits already. */
  readonly permanently?: boolean | undefined;
  /** Of that group, so that it is the one that was meant. */
  readonly fullPath?: string | undefined;
}

/**
 * Where the instance has it so, a group waits for some days: nothing may be put into it, all that is in it stays as it
 * is. Else it is gone at once. Asking again changes nothing.
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
    await happened(deps, actor, 'Group', group, { custom_message: 'Group marked for deletion' }),
  ]);
}

/** @throws 400 for one that does not wait for its deletion, 409 */
export async function restoreGroup(deps: Deps, actor: Actor, { group }: GroupAccess): Promise<GroupRecord> {
  if (!isMarkedForDeletion(group)) throw refused('Group has not been marked for deletion');
  const event = await happened(deps, actor, 'Group', group, { custom_message: 'Group restored' });
  return change(deps, group, { deletion: null }, [event]);
}

/**
 * Gone at once for everybody, with all inside. What a small one held is taken away before the answer, so that paths in
 * it are free for the next of its name; the rest by a worker.
 * @throws 404, 409 when it changed meanwhile
 */
async function deleteGroup(deps: Deps, actor: Actor, { group }: GroupAccess): Promise<void> {
  const by = requesterOf(actor);
  try {
    await removeGroup(deps, group, by);
  } catch (error) {
    throw told(error);
  }
  // The job does what this does not.
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
    throw told(error);
  }
}

const told = (error: unknown) => (error instanceof Missing ? notFound('Group') : locked(error));
