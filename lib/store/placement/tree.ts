/**
 * Descendants of groups: each group and project has one row per ancestor, written in the transaction that creates or
 * moves it. The rows may be stale while a large group moves, so the records are loaded and checked for their parents.
 */

import type { Visibility } from '../../records/visibility.ts';
import { pendingMoveKey, type TreeKind, type TreeRow, treeKey } from '../row-keys/groups.ts';
import type { Delete, Put } from '../table/write.ts';
import { groupOrders } from './group-item.ts';

/** A group or project in a tree of groups. */
export interface TreeNode {
  readonly kind: TreeKind;
  readonly id: number;
  readonly visibility: Visibility;
  /** Top-level group first. */
  readonly ancestorIds: readonly number[];
  readonly name: string;
  readonly fullPath: string;
}

/** The rows of a node, one per ancestor, with its depth below that. */
export function treeRows(node: TreeNode): Put[] {
  const { kind, id, visibility, ancestorIds } = node;
  return ancestorIds.map((ancestor, i) => ({
    put: {
      ...treeKey(ancestor, rowOf(ancestorIds, i), kind, id),
      visibility,
      // Lists of groups sort by these without reading records. Sort keys of projects change with every push.
      ...(kind === 'group' ? groupOrders(node) : {}),
      below: ancestorIds.length - i,
    },
  }));
}

/** Deletes all rows of a node. */
export const removeTreeRows = ({
  kind,
  id,
  ancestorIds,
}: Pick<TreeNode, 'kind' | 'id' | 'ancestorIds'>): Delete[] =>
  ancestorIds.map((ancestor, i) => ({ delete: treeKey(ancestor, rowOf(ancestorIds, i), kind, id) }));

/** Replaces the rows of a moved node. */
export function moveRows(previous: TreeNode, current: TreeNode): (Put | Delete)[] {
  const puts = treeRows(current);
  const rewritten = new Set(puts.map(({ put }) => put.pk + put.sk));
  const obsolete = removeTreeRows(previous).filter(({ delete: row }) => !rewritten.has(row.pk + row.sk));
  return [...obsolete, ...puts];
}

/** Marks a moved group at its new ancestors: until its descendants have rows there, lists read those under the group. */
export const pendingMoveRows = (
  previous: Pick<TreeNode, 'ancestorIds'>,
  current: Pick<TreeNode, 'id' | 'ancestorIds'>,
): Put[] =>
  current.ancestorIds
    .filter((ancestor) => !previous.ancestorIds.includes(ancestor))
    .map((ancestor) => ({ put: { ...pendingMoveKey(ancestor, current.id) } }));

/** Deletes those marks, when all descendants have followed or the group is deleted. */
export const finishedMoveRows = ({ id, ancestorIds }: Pick<TreeNode, 'id' | 'ancestorIds'>): Delete[] =>
  ancestorIds.map((ancestor) => ({ delete: pendingMoveKey(ancestor, id) }));

const rowOf = (ancestorIds: readonly number[], i: number): TreeRow =>
  i === ancestorIds.length - 1 ? 'DIRECT' : 'DEEP';
