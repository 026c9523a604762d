import type { ObjectStore } from '../objects.ts';
import { type Oid, ZERO_OID } from '../oid.ts';
import type { FileChange } from './changes.ts';
import { detectRenames } from './renames.ts';
import { MAX_STAT_FILES, statFiles } from './stats.ts';
import { diffTrees, type TreeChange } from './tree-diff.ts';

export interface DiffStats {
  readonly additions: number;
  readonly deletions: number;
  readonly total: number;
  /** A limit was reached, so that some file was counted approximately or not at all. */
  readonly approximate: boolean;
}

/**
 * Lines added and deleted between two trees: the sums of `git diff --numstat -M`. A renamed file counts with what
 * changed in it; binary files count nothing.
 */
export async function diffStats(
  store: ObjectStore,
  oldTree: Oid,
  newTree: Oid,
  signal?: AbortSignal,
): Promise<DiffStats> {
  const options = signal ? { signal } : {};
  const { changes, truncated } = await diffTrees(store, oldTree, newTree, {
    limit: MAX_STAT_FILES,
    ...options,
  });
  const renamed = await detectRenames(store, changes, options);
  const differing = renamed.changes.filter(({ oldId, newId }) => oldId !== newId).map(sidesOf);
  const { files, complete } = await statFiles(store, differing, signal);
  let additions = 0;
  let deletions = 0;
  for (const file of files) {
    additions += file.additions;
    deletions += file.deletions;
  }
  const approximate = truncated || renamed.limited || !complete || files.some((file) => file.approximate);
  return { additions, deletions, total: additions + deletions, approximate };
}

const sidesOf = ({ newPath, oldMode, oldId, newMode, newId }: FileChange): TreeChange => ({
  path: newPath,
  ...(oldId === ZERO_OID ? {} : { old: { mode: oldMode, oid: oldId } }),
  ...(newId === ZERO_OID ? {} : { new: { mode: newMode, oid: newId } }),
});
