import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** The id is a namespace id: groups and users share one counter. */
export const groupKey = (id: number): Key => ({ pk: `GROUP#${padded(id)}`, sk: 'GROUP' });

/** Descendants of a group. */
export const treePartition = (groupId: number): string => `TREE#${padded(groupId)}`;

export type TreeKind = 'group' | 'project';

/** `DIRECT#`: children. `DEEP#`: deeper descendants. `SHARED#`: what the group was invited to. */
export type TreeRow = 'DIRECT' | 'DEEP' | 'SHARED';

export const treePrefix = (row: TreeRow, kind: TreeKind): string => `${row}#${kind.toUpperCase()}#`;

export const treeKey = (ancestorId: number, row: TreeRow, kind: TreeKind, id: number): Key => ({
  pk: treePartition(ancestorId),
  sk: treePrefix(row, kind) + padded(id),
});

/** A group that was moved in, and whose descendants have no rows here yet: read those under the group itself. */
export const PENDING_MOVE = 'SETTLING#';

export const pendingMoveKey = (ancestorId: number, id: number): Key => ({
  pk: treePartition(ancestorId),
  sk: PENDING_MOVE + padded(id),
});

/** Range of the rows of pending moves, and of what the group and its descendants were invited to. */
export const MOVED_AWAY = { from: PENDING_MOVE, to: 'SHAREDBELOW#~' } as const;

/** A project that a descendant group was invited to. */
export const sharedBelowKey = (ancestorId: number, invitedId: number, projectId: number): Key => ({
  pk: treePartition(ancestorId),
  sk: `SHAREDBELOW#${padded(invitedId)}#${padded(projectId)}`,
});

export const rowKinds = [
  { name: 'group', partitions: ['GROUP#'], keys: { groupKey }, of: ['group'] },
  { name: 'tree-node', partitions: ['TREE#'], keys: { treeKey }, of: ['project', 'group'] },
  { name: 'share', partitions: ['TREE#'], keys: { treeKey }, of: ['project', 'group'] },
  { name: 'pending-move', partitions: ['TREE#'], keys: { pendingMoveKey }, of: ['group'] },
  { name: 'share-below', partitions: ['TREE#'], keys: { sharedBelowKey }, of: ['project', 'group'] },
] as const satisfies readonly RowKind[];
