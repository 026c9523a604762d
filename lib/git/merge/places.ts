import { type FileChange, isRegular } from '../diff/changes.ts';
import type { TreeChange } from '../diff/tree-diff.ts';
import type { RawPath } from '../tree/path.ts';
import type { ConflictKind, MergeConflict, Stage } from './conflict.ts';
import { type MergeLevel, mergeEntries } from './entries.ts';
import type { Overlay } from './overlay.ts';

export const SIDES = ['ours', 'theirs'] as const;
export type SideName = (typeof SIDES)[number];

/** What stands at a path in the base and on both sides, renames taken into account. */
export interface Place {
  readonly path: RawPath;
  base?: Stage | undefined;
  ours?: Stage | undefined;
  theirs?: Stage | undefined;
  /** Something about how the file came here that nobody can decide, whatever its content. */
  conflict?: ConflictKind;
}

export type Places = Map<RawPath, Place>;

/** All paths that at least one side changed. */
export function placesOf(ours: readonly TreeChange[], theirs: readonly TreeChange[]): Places {
  const places: Places = new Map();
  for (const [side, changes] of [
    ['ours', ours],
    ['theirs', theirs],
  ] as const) {
    for (const { path, old, new: after } of changes) {
      let place = places.get(path);
      if (place === undefined) {
        const base = old && { ...old, path };
        places.set(path, (place = { path, base, ours: base, theirs: base }));
      }
      place[side] = after && { ...after, path };
    }
  }
  return places;
}

/**
 * Brings together at the new path of each renamed file what the base and the other side have at its old path
 * (merge-strategies, `ort`; its Documentation/technical/directory-rename-detection tells the cases apart).
 *
 * @param renames of each side, from the base
 */
export async function applyRenames(
  store: Overlay,
  places: Places,
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
      ? await movedTwice(store, places, move.rename, move.other, level)
      : await movedOnce(store, places, move, level);
    if (found) conflicts.push(found);
  }
  return conflicts;
}

interface Move {
  readonly side: SideName;
  readonly rename: FileChange;
  /** What the other side made of the same file. */
  readonly other?: FileChange;
}

/** Both sides moved the file. */
async function movedTwice(
  store: Overlay,
  places: Places,
  ours: FileChange,
  theirs: FileChange,
  level: MergeLevel,
): Promise<MergeConflict | undefined> {
  const source = places.get(ours.oldPath)!;
  const [one, other] = [places.get(ours.newPath)!, places.get(theirs.newPath)!];
  const base = source.base!;
  source.base = undefined;
  if (one === other) {
    // Moved alike, it counts as having been there from the start.
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
  places: Places,
  { side, rename }: Move,
  level: MergeLevel,
): Promise<MergeConflict | undefined> {
  const otherSide = side === 'ours' ? 'theirs' : 'ours';
  const source = places.get(rename.oldPath)!;
  const target = places.get(rename.newPath)!;
  const base = source.base!;
  const moved = target[side]!;
  const kept = source[otherSide];
  const retyped = kept !== undefined && isRegular(moved) !== isRegular(kept);
  // A file at the new path whose old path got another type was moved there too.
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
    // At the old path stands something else now: as far as this file goes, it was deleted.
    target.conflict = 'modify-delete';
    return undefined;
  }
  target[otherSide] = kept;
  source[otherSide] = undefined;
  return undefined;
}
