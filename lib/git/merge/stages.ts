import { type FileChange, isRegular } from '../diff/changes.ts';
import type { TreeChange } from '../diff/tree-diff.ts';
import type { RawPath } from '../tree/path.ts';
import type { ConflictKind, MergeConflict, Stage } from './conflict.ts';
import { type MergeLevel, mergeEntries } from './entries.ts';
import type { Overlay } from './overlay.ts';

export const SIDES = ['ours', 'theirs'] as const;
export type SideName = (typeof SIDES)[number];

/** The entries of one path in the base and on both sides, with renames applied. */
export interface PathStages {
  readonly path: RawPath;
  base?: Stage | undefined;
  ours?: Stage | undefined;
  theirs?: Stage | undefined;
  /** A conflict of the renames themselves, whatever the content. */
  conflict?: ConflictKind;
}

export type StagesByPath = Map<RawPath, PathStages>;

/** All paths that at least one side changed. */
export function stagesByPath(ours: readonly TreeChange[], theirs: readonly TreeChange[]): StagesByPath {
  const byPath: StagesByPath = new Map();
  for (const [side, changes] of [
    ['ours', ours],
    ['theirs', theirs],
  ] as const) {
    for (const { path, old, new: after } of changes) {
      let stages = byPath.get(path);
      if (stages === undefined) {
        const base = old && { ...old, path };
        byPath.set(path, (stages = { path, base, ours: base, theirs: base }));
      }
      stages[side] = after && { ...after, path };
    }
  }
  return byPath;
}

/**
 * Moves the entries that the base and the other side have at the old path of each renamed file to its new path
 * (merge-strategies, `ort`; git's Documentation/technical/directory-rename-detection describes the cases).
 *
 * @param renames of each side, relative to the base
 */
export async function applyRenames(
  store: Overlay,
  byPath: StagesByPath,
  renames: Readonly<Record<SideName, readonly FileChange[]>>,
  level: MergeLevel,
): Promise<MergeConflict[]> {
  const conflicts: MergeConflict[] = [];
  const theirTargets = new Map(renames.theirs.map((rename) => [rename.oldPath, rename]));
  const both = new Set<RawPath>();
  const moves: Move[] = [];
  for (const rename of renames.ours) {
    const other = theirTargets.get(rename.oldPath);
    if (other) both.add(rename.oldPath);
    moves.push({ side: 'ours', rename, ...(other ? { other } : {}) });
  }
  for (const rename of renames.theirs) {
    if (!both.has(rename.oldPath)) moves.push({ side: 'theirs', rename });
  }
  moves.sort((a, b) => (a.rename.oldPath < b.rename.oldPath ? -1 : 1));
  for (const move of moves) {
    const found = move.other
      ? await movedTwice(store, byPath, move.rename, move.other, level)
      : await movedOnce(store, byPath, move, level);
    if (found) conflicts.push(found);
  }
  return conflicts;
}

interface Move {
  readonly side: SideName;
  readonly rename: FileChange;
  /** The other side's rename of the same file. */
  readonly other?: FileChange;
}

/** Both sides moved the file. */
async function movedTwice(
  store: Overlay,
  byPath: StagesByPath,
  ours: FileChange,
  theirs: FileChange,
  level: MergeLevel,
): Promise<MergeConflict | undefined> {
  const source = byPath.get(ours.oldPath)!;
  const [one, other] = [byPath.get(ours.newPath)!, byPath.get(theirs.newPath)!];
  const base = source.base!;
  source.base = undefined;
  if (one === other) {
    // Both moved it to the same path: treat it as if the base had it there.
    one.base = { ...base, path: one.path };
    return undefined;
  }
  const [ourStage, theirStage] = [one.ours!, other.theirs!];
  const merged = await mergeEntries(store, base, ourStage, theirStage, level, true);
  one.ours = merged.entry && { ...merged.entry, path: one.path };
  other.theirs = merged.entry && { ...merged.entry, path: other.path };
  one.conflict = 'rename-rename';
  other.conflict = 'rename-rename';
  return { kind: 'rename-rename', path: base.path, base, ours: ourStage, theirs: theirStage };
}

async function movedOnce(
  store: Overlay,
  byPath: StagesByPath,
  { side, rename }: Move,
  level: MergeLevel,
): Promise<MergeConflict | undefined> {
  const otherSide = side === 'ours' ? 'theirs' : 'ours';
  const source = byPath.get(rename.oldPath)!;
  const target = byPath.get(rename.newPath)!;
  const base = source.base!;
  const moved = target[side]!;
  const kept = source[otherSide];
  const retyped = kept !== undefined && isRegular(moved) !== isRegular(kept);
  // If the other side's entry at the old path has another type, its file at the new path counts as moved, too.
  const taken = target[otherSide] !== undefined && !retyped;

  if (kept === undefined) {
    target.conflict = 'rename-delete';
    if (!taken) target.base = base;
    source.base = undefined;
    return undefined;
  }
  if (taken) {
    const [ours, theirs] = side === 'ours' ? [moved, kept] : [kept, moved];
    const merged = await mergeEntries(store, base, ours, theirs, level, true);
    target[side] = merged.entry && { ...merged.entry, path: target.path };
    source.base = undefined;
    source[otherSide] = undefined;
    return merged.conflict && { kind: merged.conflict, path: target.path, base, ours, theirs };
  }
  target.base = base;
  source.base = undefined;
  if (retyped) {
    // The old path now has an entry of another type: the file itself was deleted.
    target.conflict = 'modify-delete';
    return undefined;
  }
  target[otherSide] = kept;
  source[otherSide] = undefined;
  return undefined;
}
