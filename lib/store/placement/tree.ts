/**
 * What stands below a group: one row per ancestor, written with what it is about. Rows may be late while a large group
 * moves, so what they lead to is loaded and judged by its own parents.
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
  /** Outermost first. */
  readonly ancestorIds: readonly number[];
  readonly name: string;
  readonly fullPath: string;
}

/** The rows of a node under everything above it, with how far below. */
export function treeRows(node: TreeNode): Put[] {
  const { kind, id, visibility, ancestorIds } = node;
  return ancestorIds.map((ancestor, i) => ({
    put: {
      ...treeKey(ancestor, rowOf(ancestorIds, i), kind, id),
      visibility,
      // A list of groups in these orders reads no record for its order; projects have orders that move with every push.
      ...(kind === 'group' ? groupOrders(node) : {}),
      below: ancestorIds.length - i,
    },
  }));
}

/** Takes away all rows of a node. */
export const removeTreeRows = ({
  kind,
  id,
  ancestorIds,
}: Pick<TreeNode, 'kind' | 'id' | 'ancestorIds'>): Delete[] =>
  ancestorIds.map((ancestor, i) => ({ delete: treeKey(ancestor, rowOf(ancestorIds, i), kind, id) }));

/** The rows of a node that stands elsewhere now. */
export function moveRows(was: TreeNode, is: TreeNode): (Put | Delete)[] {
  const puts = treeRows(is);
  const kept = new Set(puts.map(({ put }) => put.pk + put.sk));
  const left = removeTreeRows(was).filter(({ delete: row }) => !kept.has(row.pk + row.sk));
  return [...left, ...puts];
}

/** A group is here with all that is inside, which lists find under the group itself until its own rows have followed. */
export const pendingMoveRows = (
  was: Pick<TreeNode, 'ancestorIds'>,
  is: Pick<TreeNode, 'id' | 'ancestorIds'>,
): Put[] =>
  is.ancestorIds
    .filter((ancestor) => !was.ancestorIds.includes(ancestor))
    .map((ancestor) => ({ put: { ...pendingMoveKey(ancestor, is.id) } }));

/** They have followed, or are gone. */
export const finishedMoveRows = ({ id, ancestorIds }: Pick<TreeNode, 'id' | 'ancestorIds'>): Delete[] =>
  ancestorIds.map((ancestor) => ({ delete: pendingMoveKey(ancestor, id) }));

const rowOf = (ancestorIds: readonly number[], i: number): TreeRow =>
  i === ancestorIds.length - 1 ? 'DIRECT' : 'DEEP';
