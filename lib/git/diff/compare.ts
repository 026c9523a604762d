import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { inTurns } from '../work.ts';
import { plainChanges } from './changes.ts';
import { type DiffLimits, diffFiles, type FileDiffs } from './patch.ts';
import { detectRenames, type RenameOptions } from './renames.ts';
import { diffTrees } from './tree-diff.ts';

export interface DiffOptions extends DiffLimits {
  /** Absent for git's default; `false` shows a moved file as deleted and added. */
  readonly renames?: Omit<RenameOptions, 'signal' | 'guide'> | false;
}

export interface TreeDiffs extends FileDiffs {
  /** Number of changed files, including those not shown; counts at most 100,000. */
  readonly changed: number;
  /** Not all renames were detected, because too many or too large files were added and deleted. */
  readonly renamesLimited: boolean;
}

/** The diff of two trees, file by file, with renames and hunks: `git diff`. */
export async function compareTrees(
  store: ObjectStore,
  oldTree: Oid,
  newTree: Oid,
  options: DiffOptions = {},
): Promise<TreeDiffs> {
  const { renames = {}, ...limits } = options;
  const signal = limits.signal ? { signal: limits.signal } : {};
  const { changes } = await diffTrees(store, oldTree, newTree, signal);
  const found =
    renames === false
      ? { changes: await inTurns(plainChanges(changes), limits.signal), limited: false }
      : await detectRenames(store, changes, { ...renames, ...signal });
  const diffs = await diffFiles(store, found.changes, limits);
  return { ...diffs, changed: found.changes.length, renamesLimited: found.limited };
}
