/** A group's location, and the conditions for adding something to a group. */

import type { GroupRecord } from '../../records/groups.ts';
import { VISIBILITIES, type Visibility } from '../../records/visibility.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { groupKey, treeKey } from '../row-keys/groups.ts';
import { claim, freeName, moveName, replaceName, sameName } from '../table/unique-names.ts';
import { type Check, PRESENT, type Write } from '../table/write.ts';
import { groupOf } from './group-item.ts';

/** Returns the location of a group with this name and path below a parent. */
export function placementUnder(
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
 * For a transaction that adds something to a group: checks that the group was not moved or deleted and allows the
 * visibility. While the group moves, a descendant that has not followed may still need the path: the path below the
 * old location must be free too. Refused as `namespace`, or as a taken `path`.
 */
export function addTo(
  parent: GroupRecord,
  { path, visibility }: { readonly path: string; readonly visibility: Visibility },
  now: Date,
): Check[] {
  const exists = checkNotDeleted(parent, visibility, now);
  const former = parent.movedFrom ?? parent.fullPath;
  const unmoved = {
    ...exists,
    if: `${exists.if} AND (attribute_type(#movedFrom, :null) OR #movedFrom = :former)`,
    values: { ...exists.values, former },
  };
  if (sameName(former, parent.fullPath)) return [unmoved];
  return [unmoved, freeName('path', `${former}/${path}`, 'path')];
}

/** Checks that a group has the same parent as when it was read. Refused as `namespace`. */
export const checkUnmoved = ({ id, parentId }: Pick<GroupRecord, 'id' | 'parentId'>): Check => ({
  check: groupKey(id),
  if: parentId === null ? 'attribute_type(#parentId, :null)' : '#parentId = :parent',
  values: parentId === null ? { null: 'NULL' } : { parent: parentId },
  reason: 'namespace',
});

/** Checks that a higher ancestor of a move's target was not moved and is not moving. Refused as `namespace`. */
export const checkNotMoving = ({ id, parentId }: GroupRecord): Check => ({
  check: groupKey(id),
  if: `${PRESENT} AND attribute_type(#deletedAt, :null) AND attribute_type(#movedFrom, :null) AND ${
    parentId === null ? 'attribute_type(#parentId, :null)' : '#parentId = :parent'
  }`,
  values: { null: 'NULL', ...(parentId === null ? {} : { parent: parentId }) },
  reason: 'namespace',
});

/** Checks that a group exists unchanged and allows this visibility in it. Refused as `namespace`. */
export function checkNotDeleted(parent: GroupRecord, visibility: Visibility, now: Date): Check {
  const allowed = VISIBILITIES.slice(visibilityRank(visibility));
  const list = allowed.map((v) => `:${v}`).join(', ');
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
      ...Object.fromEntries(allowed.map((v) => [v, v])),
    },
    reason: 'namespace',
  };
}

/** Rank from the least to the most visible. */
export const visibilityRank = (visibility: Visibility): number => VISIBILITIES.indexOf(visibility);

/** @returns the error for a refusal of {@link addTo} by the parent */
export function refusedByParent(error: unknown): Missing | Stale | undefined {
  if (!(error instanceof TransactionRefused)) return undefined;
  const refusal = error.get('namespace');
  if (refusal === undefined) return undefined;
  return groupOf(refusal.item)?.deletedAt !== null ? new Missing('parent') : new Stale('parent');
}

/** Claims the path of a new group. */
export function claimGroupPath(group: GroupRecord) {
  const owner = { type: 'group', id: group.id } as const;
  return claim('path', group.fullPath, owner, 'path', { ancestorIds: [...group.ancestorIds] });
}

/** Moves the path. The old one redirects to the group until another owner takes it. */
export function moveGroupPath(previous: GroupRecord, current: GroupRecord): Write[] {
  const ancestorIds = [...current.ancestorIds];
  return moveName('path', previous.fullPath, current.fullPath, { type: 'group', id: current.id }, 'path', {
    ancestorIds,
  });
}

/**
 * Claims the name of a subgroup in its parent, and frees the previous one; for a new group without `previous`, for a
 * deleted one without `current`. Names of top-level groups need not be unique.
 */
export const changeGroupName = (
  previous: GroupRecord | undefined,
  current: GroupRecord | undefined,
): Write[] => {
  const id = (current ?? previous)?.id ?? 0;
  return replaceName('groupname', nameIn(previous), nameIn(current), { type: 'group', id }, 'name');
};

const nameIn = (group: GroupRecord | undefined) =>
  group === undefined || group.parentId === null ? undefined : `${group.parentId}/${group.name}`;

/** The row that lists a group under one invited to it, for the transaction of the invitation. Refused as `invited`. */
export const inviteGroup = (invitedId: number, groupId: number): Write[] => [
  { put: { ...treeKey(invitedId, 'SHARED', 'group', groupId) } },
  {
    check: groupKey(invitedId),
    if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
    values: { null: 'NULL' },
    reason: 'invited',
  },
];

/** Deletes that row. */
export const uninviteGroup = (invitedId: number, groupId: number): Write[] => [
  { delete: treeKey(invitedId, 'SHARED', 'group', groupId) },
];
