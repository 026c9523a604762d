import { type Key, padded } from './key.ts';

/** The id is a namespace's: those of groups and of users are of one series. */
export const groupKey = (id: number): Key => ({ pk: `GROUP#${padded(id)}`, sk: 'GROUP' });

/** What stands below a group, one row per ancestor. */
export const treePartition = (groupId: number): string => `TREE#${padded(groupId)}`;

export type TreeKind = 'group' | 'project';

/** `DIRECT#`: children. `DEEP#`: what is below them. `SHARED#`: what the group was invited to. */
export type TreeRow = 'DIRECT' | 'DEEP' | 'SHARED';

export const treePrefix = (row: TreeRow, kind: TreeKind): string => `${row}#${kind.toUpperCase()}#`;

export const treeKey = (ancestorId: number, row: TreeRow, kind: TreeKind, id: number): Key => ({
  pk: treePartition(ancestorId),
  sk: treePrefix(row, kind) + padded(id),
});

/** A group that came in, and whose content has no rows here yet: it is found under the group itself. */
export const PENDING_MOVE = 'SETTLING#';

export const pendingMoveKey = (ancestorId: number, id: number): Key => ({
  pk: treePartition(ancestorId),
  sk: PENDING_MOVE + padded(id),
});

/** Bounds of the rows of those, and of all that a group was invited to, and that groups below it were. */
export const MOVED_AWAY = { from: PENDING_MOVE, to: 'SHAREDBELOW#~' } as const;

/** A project that a group below this one was invited to. */
export const sharedBelowKey = (ancestorId: number, invitedId: number, projectId: number): Key => ({
  pk: treePartition(ancestorId),
  sk: `SHAREDBELOW#${padded(invitedId)}#${padded(projectId)}`,
});
