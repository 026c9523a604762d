/** Where a group stands, and what a transaction that puts something there must find. */

import type { GroupRecord } from '../../records/groups.ts';
import { VISIBILITIES, type Visibility } from '../../records/visibility.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { groupKey, treeKey } from '../row-keys/groups.ts';
import { claim, freeName, moveName, sameName } from '../table/unique-names.ts';
import { type Check, PRESENT, type Write } from '../table/write.ts';
import { groupOf } from './group-item.ts';

/** Where a group of this name and path stands below its parent. */
export function placeBelow(
  parent: GroupRecord | undefined,
  { name, path }: Pick<GroupRecord, 'name' | 'path'>,
): Pick<GroupRecord, 'fullPath' | 'fullName' | 'parentId' | 'ancestorIds'> {
  if (parent === undefined) return { fullPath: path, fullName: name, parentId: null, ancestorIds: [] };
  return {
    fullPath: `${parent.fullPath}/${path}`,
    fullName: `${parent.fullName} / ${name}`,
    parentId: parent.id,
    ancestorIds: [...parent.ancestorIds, parent.id],
  };
}

/**
 * For the transaction that puts something into a group: that this is where it was, and takes it. While the group moves,
 * something inside may still be on its way to the path. Refused as `namespace`, or as a taken `path`.
 */
export function addTo(
  parent: GroupRecord,
  { path, visibility }: { readonly path: string; readonly visibility: Visibility },
  now: Date,
): Check[] {
  const open = checkNotDeleted(parent, visibility, now);
  const former = parent.movedFrom ?? parent.fullPath;
  const still = {
    ...open,
    if: `${open.if} AND (attribute_type(#movedFrom, :null) OR #movedFrom = :former)`,
    values: { ...open.values, former },
  };
  if (sameName(former, parent.fullPath)) return [still];
  return [still, freeName('path', `${former}/${path}`, 'path')];
}

/** That a group stands in the same one as when it was read. Refused as `namespace`. */
export const checkUnmoved = ({ id, parentId }: Pick<GroupRecord, 'id' | 'parentId'>): Check => ({
  check: groupKey(id),
  if: parentId === null ? 'attribute_type(#parentId, :null)' : '#parentId = :parent',
  values: parentId === null ? { null: 'NULL' } : { parent: parentId },
  reason: 'namespace',
});

/** That a group further above a place is where it was and is not moving, for a move there. Refused as `namespace`. */
export const checkNotMoving = ({ id, parentId }: GroupRecord): Check => ({
  check: groupKey(id),
  if: `${PRESENT} AND attribute_type(#deletedAt, :null) AND attribute_type(#movedFrom, :null) AND ${
    parentId === null ? 'attribute_type(#parentId, :null)' : '#parentId = :parent'
  }`,
  values: { null: 'NULL', ...(parentId === null ? {} : { parent: parentId }) },
  reason: 'namespace',
});

/** For the transaction that puts something of this visibility into a group. Refused as `namespace`. */
export function checkNotDeleted(parent: GroupRecord, visibility: Visibility, now: Date): Check {
  const enough = VISIBILITIES.slice(visibilityRank(visibility));
  const list = enough.map((v) => `:${v}`).join(', ');
  return {
    check: groupKey(parent.id),
    if:
      `${PRESENT} AND attribute_type(#deletedAt, :null) AND #fullPath = :path AND #fullName = :name AND #visibility IN (${list})` +
      ` AND (attribute_not_exists(#ceiling) OR #ceilingUntil < :now OR #ceiling IN (${list}))`,
    values: {
      null: 'NULL',
      path: parent.fullPath,
      name: parent.fullName,
      now: now.toISOString(),
      ...Object.fromEntries(enough.map((v) => [v, v])),
    },
    reason: 'namespace',
  };
}

/** From the least to the most visible. */
export const visibilityRank = (visibility: Visibility): number => VISIBILITIES.indexOf(visibility);

/** @returns what the parent's refusal of {@link addTo} means */
export function refusedByParent(error: unknown): Missing | Stale | undefined {
  if (!(error instanceof TransactionRefused)) return undefined;
  const refusal = error.get('namespace');
  if (refusal === undefined) return undefined;
  return groupOf(refusal.item)?.deletedAt !== null ? new Missing('parent') : new Stale('parent');
}

/** Takes the path of a new group. */
export function claimGroupPath(group: GroupRecord) {
  const owner = { type: 'group', id: group.id } as const;
  return claim('path', group.fullPath, owner, 'path', { ancestorIds: [...group.ancestorIds] });
}

/** The old path leads on to the group for as long as nobody else takes it. */
export function moveGroupPath(was: GroupRecord, is: GroupRecord): Write[] {
  const ancestorIds = [...is.ancestorIds];
  return moveName('path', was.fullPath, is.fullPath, { type: 'group', id: is.id }, 'path', { ancestorIds });
}

/** The row that leads from a group to one it is invited to, for the transaction that invites it. Refused as `invited`. */
export const inviteGroup = (invitedId: number, groupId: number): Write[] => [
  { put: { ...treeKey(invitedId, 'SHARED', 'group', groupId) } },
  {
    check: groupKey(invitedId),
    if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
    values: { null: 'NULL' },
    reason: 'invited',
  },
];

/** Takes that row away. */
export const uninviteGroup = (invitedId: number, groupId: number): Write[] => [
  { delete: treeKey(invitedId, 'SHARED', 'group', groupId) },
];
