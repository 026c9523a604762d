import type { FileChange } from '../diff/changes.ts';
import { detectRenames } from '../diff/renames.ts';
import type { TreeChange } from '../diff/tree-diff.ts';
import type { Oid } from '../oid.ts';
import { entryAtPath } from '../tree/entry.ts';
import { type RawPath, ROOT } from '../tree/path.ts';
import type { ConflictKind, MergeConflict } from './conflict.ts';
import { DirectoryRenames } from './directory-renames.ts';
import type { Overlay } from './overlay.ts';
import { parentOf, removedDirectories } from './removed-directories.ts';
import { SIDES, type SideName, type StagesByPath } from './stages.ts';

/** Limit for rename detection: the square root of the number of pairs compared. */
const RENAME_LIMIT = 2000;

/** A value of each side. */
type Both<T> = Readonly<Record<SideName, T>>;

export interface FoundRenames {
  /** Renames of each side, relative to the base. */
  readonly renames: Both<readonly FileChange[]>;
  /** Files that one side put into a directory that the other side renamed. */
  readonly conflicts: readonly MergeConflict[];
}

export interface SideTrees {
  readonly ours: Oid;
  readonly theirs: Oid;
}

/**
 * The renames of both sides that matter to a merge. Where one side renamed a directory, the files that the other side
 * added to it, or moved into it, are moved along, and each of them is a conflict: what git does by default
 * (`merge.directoryRenames=conflict`).
 *
 * @param byPath changed where files are moved along
 * @param options.directories whether directories are followed; not in merges of merge bases
 */
export async function findRenames(
  store: Overlay,
  byPath: StagesByPath,
  trees: SideTrees,
  changes: Both<readonly TreeChange[]>,
  options: { readonly directories: boolean; readonly signal?: AbortSignal | undefined },
): Promise<FoundRenames> {
  const guides = await guidesOf(store, byPath, trees, changes, options.signal);
  const renames = {
    ours: await renamesOf(store, changes.ours, guides.ours, options.signal),
    theirs: await renamesOf(store, changes.theirs, guides.theirs, options.signal),
  };
  if (!options.directories) return { renames, conflicts: [] };
  const results = { ours: guides.ours.result(), theirs: guides.theirs.result() };
  const conflicts: MergeConflict[] = [];
  for (const side of SIDES) {
    for (const path of results[side].split) conflicts.push({ kind: 'directory-split', path });
  }
  const moved = { ours: results.ours.renamed, theirs: results.theirs.renamed };
  // A directory that both sides renamed is nobody's to follow.
  for (const path of [...moved.ours.keys()]) {
    if (moved.theirs.delete(path)) moved.ours.delete(path);
  }
  if (moved.ours.size + moved.theirs.size === 0) return { renames, conflicts };
  const arrivals = {
    ours: arrivalsOf(changes.ours, moved.theirs),
    theirs: arrivalsOf(changes.theirs, moved.ours),
  };
  const followed = { ours: renames.ours, theirs: renames.theirs };
  for (const side of SIDES) {
    const other = otherSide(side);
    const follow = new Follow(store, byPath, trees[side], side, arrivals[side]);
    for (const { path, to } of [...arrivals[side].values()].flat().sort(byOldPath)) {
      // Neither what the other side would move here as well, nor into a directory that this side renamed.
      if (arrivals[other].has(path) || moved[side].has(to.directory)) continue;
      await follow.move(path, to.path);
    }
    conflicts.push(...follow.conflicts);
    followed[side] = renames[side].map((rename) => {
      const newPath = follow.moved.get(rename.newPath);
      return newPath === undefined ? rename : { ...rename, newPath };
    });
  }
  return { renames: followed, conflicts };
}

const otherSide = (side: SideName): SideName => (side === 'ours' ? 'theirs' : 'ours');

/** What to look for on each side. */
async function guidesOf(
  store: Overlay,
  byPath: StagesByPath,
  trees: SideTrees,
  changes: Both<readonly TreeChange[]>,
  signal: AbortSignal | undefined,
): Promise<Both<DirectoryRenames>> {
  const removed = {
    ours: await removedDirectories(store, trees.ours, changes.ours, signal),
    theirs: await removedDirectories(store, trees.theirs, changes.theirs, signal),
  };
  const hot = {
    ours: hotDirectories(removed.ours, changes.theirs),
    theirs: hotDirectories(removed.theirs, changes.ours),
  };
  const locationMatters = (path: RawPath): boolean => {
    if (hot.ours.size + hot.theirs.size === 0) return false;
    for (let above = parentOf(path); above !== ROOT; above = parentOf(above)) {
      if (hot.ours.has(above) || hot.theirs.has(above)) return true;
    }
    return false;
  };
  const guide = (side: SideName) => {
    const contentMatters = (path: RawPath): boolean => {
      const { base, [otherSide(side)]: there } = byPath.get(path)!;
      return base?.oid !== there?.oid || base?.mode !== there?.mode;
    };
    return new DirectoryRenames(removed[side], hot[side], contentMatters, locationMatters);
  };
  return { ours: guide('ours'), theirs: guide('theirs') };
}

/** The removed directories in which the other side added files. */
function hotDirectories(
  removed: ReadonlySet<RawPath>,
  otherChanges: readonly TreeChange[],
): ReadonlySet<RawPath> {
  const hot = new Set<RawPath>();
  if (removed.size === 0) return hot;
  for (const { path, old } of otherChanges) {
    const directory = parentOf(path);
    if (!old && removed.has(directory)) hot.add(directory);
  }
  return hot;
}

async function renamesOf(
  store: Overlay,
  changes: readonly TreeChange[],
  guide: DirectoryRenames,
  signal: AbortSignal | undefined,
): Promise<readonly FileChange[]> {
  const found = await detectRenames(store, changes, {
    limit: RENAME_LIMIT,
    emptyFiles: false,
    guide,
    ...(signal ? { signal } : {}),
  });
  return found.changes.filter((change) => change.status === 'R');
}

interface Arrival {
  /** Where the side put the file. */
  readonly path: RawPath;
  /** Where the renamed directory is now. */
  readonly to: { readonly directory: RawPath; readonly path: RawPath };
}

const byOldPath = (a: Arrival, b: Arrival): number => (a.path < b.path ? -1 : 1);

/** The files that a side put into directories that the other side renamed, by the path that they would get. */
function arrivalsOf(
  changes: readonly TreeChange[],
  renamed: ReadonlyMap<RawPath, RawPath>,
): Map<RawPath, Arrival[]> {
  const arrivals = new Map<RawPath, Arrival[]>();
  if (renamed.size === 0) return arrivals;
  for (const { path, old, new: after } of changes) {
    if (old || !after) continue;
    for (let above = parentOf(path); above !== ROOT; above = parentOf(above)) {
      const directory = renamed.get(above);
      if (directory === undefined) continue;
      const rest = path.slice(above.length + 1);
      const to = (directory === ROOT ? rest : `${directory}/${rest}`) as RawPath;
      const same = arrivals.get(to);
      const arrival = { path, to: { directory, path: to } };
      if (same) same.push(arrival);
      else arrivals.set(to, [arrival]);
      break;
    }
  }
  return arrivals;
}

/** Moves files of one side along with the directories that the other side renamed. */
class Follow {
  readonly conflicts: MergeConflict[] = [];
  /** New paths of the files that were moved. */
  readonly moved = new Map<RawPath, RawPath>();
  readonly #store: Overlay;
  readonly #byPath: StagesByPath;
  readonly #tree: Oid;
  readonly #side: SideName;
  readonly #arrivals: ReadonlyMap<RawPath, readonly Arrival[]>;

  constructor(
    store: Overlay,
    byPath: StagesByPath,
    tree: Oid,
    side: SideName,
    arrivals: ReadonlyMap<RawPath, readonly Arrival[]>,
  ) {
    this.#store = store;
    this.#byPath = byPath;
    this.#tree = tree;
    this.#side = side;
    this.#arrivals = arrivals;
  }

  async move(from: RawPath, to: RawPath): Promise<void> {
    const inTheWay = await this.#store.run((objects) => entryAtPath(objects, this.#tree, to) !== undefined);
    const problem: ConflictKind | undefined = inTheWay
      ? 'directory-in-the-way'
      : this.#arrivals.get(to)!.length > 1
        ? 'directory-collision'
        : undefined;
    const source = this.#byPath.get(from)!;
    const stage = source[this.#side]!;
    if (problem) {
      this.conflicts.push({ kind: problem, path: from, [this.#side]: stage });
      return;
    }
    let target = this.#byPath.get(to);
    if (target === undefined) this.#byPath.set(to, (target = { path: to }));
    target[this.#side] = stage;
    target.conflict = 'file-location';
    source[this.#side] = undefined;
    this.moved.set(from, to);
  }
}
