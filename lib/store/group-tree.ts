/**
 * What stands below a group: one row per ancestor, written with what it is about. Rows may be late while a large group
 * moves, so what they lead to is loaded and judged by its own parents.
 */
import { type TreeKind, type TreeRow, treeKey } from './keys.ts';
import type { Visibility } from './records.ts';
import type { Delete, Put } from './write.ts';

/** A group or project in a tree of groups. */
export interface TreeNode {
  readonly kind: TreeKind;
  readonly id: number;
  readonly visibility: Visibility;
  /** Outermost first. */
  readonly ancestorIds: readonly number[];
}

/** The rows of a node under everything above it. */
export function treeRows({ kind, id, visibility, ancestorIds }: TreeNode): Put[] {
  return ancestorIds.map((ancestor, i) => ({
    put: { ...treeKey(ancestor, rowOf(ancestorIds, i), kind, id), visibility },
  }));
}

/** Takes a node's rows from under ancestors it has no more: all of them where `except` is absent. */
export function leaveTree(node: Omit<TreeNode, 'visibility'>, except: readonly number[] = []): Delete[] {
  const { kind, id, ancestorIds } = node;
  return ancestorIds.flatMap((ancestor, i) =>
    except.includes(ancestor) ? [] : [{ delete: treeKey(ancestor, rowOf(ancestorIds, i), kind, id) }],
  );
}

const rowOf = (ancestorIds: readonly number[], i: number): TreeRow =>
  i === ancestorIds.length - 1 ? 'DIRECT' : 'DEEP';
