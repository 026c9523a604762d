import { batchMisses } from '../batch-misses.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import { TreeCursor } from '../parse.ts';
import { inSlices } from '../slices.ts';
import { canonicalMode, DIRECTORY, type Entry, rawName, readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';

/** A path that differs between two trees: a file, symlink or submodule, not a directory. */
export interface TreeChange {
  readonly path: RawPath;
  /** Absent when the path was added. */
  readonly old?: Entry;
  /** Absent when it was deleted. */
  readonly new?: Entry;
}

export interface TreeDiff {
  /** In git's order of paths. */
  readonly changes: readonly TreeChange[];
  /** There are more changes than the limit, or longer ones, or more directories than can be compared. */
  readonly truncated: boolean;
}

/** Default limit of changes. */
const MAX_CHANGES = 100_000;
/** Pairs of directories compared: trees of nothing but directories have no changes that could be limited. */
const MAX_PAIRS = 500_000;
/** Characters of the paths of all changes: a few deep directories could make them gigabytes. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Entries compared per step. */
const ENTRIES_PER_STEP = 512;
const STEPS_PER_TURN = 256;

/**
 * Compares two trees by the ids of their entries; equal entries are never read. A file that became a directory is a
 * deletion and additions; any other change of type is one change.
 */
export async function diffTrees(
  store: ObjectStore,
  oldTree: Oid,
  newTree: Oid,
  options: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<TreeDiff> {
  const limit = options.limit ?? MAX_CHANGES;
  const walk = new PairWalk(oldTree, newTree);
  const tooMuch = () =>
    walk.changes.length > limit || walk.pairs > MAX_PAIRS || walk.characters > MAX_CHARACTERS;
  await inSlices(store, STEPS_PER_TURN, (objects) => walk.step(objects) || tooMuch(), options.signal);
  const truncated = tooMuch();
  return { changes: walk.changes.length > limit ? walk.changes.slice(0, limit) : walk.changes, truncated };
}

interface Level {
  readonly old: Side;
  readonly new: Side;
  readonly prefix: string;
}

/** Walks two trees in parallel, a pair of directories per level. */
class PairWalk {
  readonly changes: TreeChange[] = [];
  /** Of the paths of the changes. */
  characters = 0;
  /** Pairs of directories entered. */
  pairs = 0;
  readonly #levels: Level[] = [];
  #enter: { old: Oid; new: Oid; prefix: string } | undefined;

  constructor(oldTree: Oid, newTree: Oid) {
    if (oldTree !== newTree) this.#enter = { old: oldTree, new: newTree, prefix: '' };
  }

  /** Reads one pair of directories, or compares some entries of one. @returns true at the end */
  step(objects: SyncObjects): boolean {
    if (this.#enter) {
      const { old, new: other, prefix } = this.#enter;
      const [oldData, newData] = batchMisses([old, other], (oid) => readTreeBytes(objects, oid));
      this.#levels.push({ old: new Side(oldData!), new: new Side(newData!), prefix });
      this.#enter = undefined;
      this.pairs++;
    }
    const level = this.#levels.at(-1);
    if (level === undefined) return true;
    if (this.#compare(level)) this.#levels.pop();
    return false;
  }

  /** Continues in one pair of directories, at most until a pair of subdirectories must be entered. @returns true at its end */
  #compare({ old: before, new: after, prefix }: Level): boolean {
    for (let count = 0; !this.#enter && count < ENTRIES_PER_STEP; count++) {
      const [a, b] = [before.current, after.current];
      if (a === undefined && b === undefined) return true;
      const order = a === undefined ? 1 : b === undefined || a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
      if (order <= 0) before.next();
      if (order >= 0) after.next();
      this.#pair(prefix, order <= 0 ? a : undefined, order >= 0 ? b : undefined);
    }
    return false;
  }

  #pair(prefix: string, a: Current | undefined, b: Current | undefined): void {
    if (a && b && a.oid === b.oid && a.mode === b.mode) return;
    const path = (prefix + (a ?? b)!.name) as RawPath;
    if ((a ?? b)!.mode === DIRECTORY) {
      this.#enter = { old: a?.oid ?? EMPTY_TREE, new: b?.oid ?? EMPTY_TREE, prefix: `${path}/` };
    } else {
      this.characters += path.length;
      this.changes.push({
        path,
        ...(a ? { old: { mode: a.mode, oid: a.oid } } : {}),
        ...(b ? { new: { mode: b.mode, oid: b.oid } } : {}),
      });
    }
  }
}

interface Current extends Entry {
  readonly name: RawPath;
  /** Sorts as git does: a directory as if its name ended in a slash. */
  readonly key: string;
}

class Side {
  readonly #cursor: TreeCursor;
  current: Current | undefined;

  constructor(data: Uint8Array) {
    this.#cursor = new TreeCursor(data);
    this.next();
  }

  next(): void {
    const cursor = this.#cursor;
    if (!cursor.next()) {
      this.current = undefined;
      return;
    }
    const mode = canonicalMode(cursor.mode);
    const name = rawName(cursor);
    const key = mode === DIRECTORY ? `${name}/` : name;
    this.current = { mode, name, key, oid: oidFromBytes(cursor.data, cursor.oidStart) };
  }
}
