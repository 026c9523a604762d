import { gather } from '../gather.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import { TreeCursor } from '../parse.ts';
import { inSlices } from '../slices.ts';
import { canonicalMode, DIRECTORY, type Entry, rawName, readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';

/** A path that differs between two trees. Directories do not appear, what they hold does. */
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
  /** There are more than the limit allowed. */
  readonly truncated: boolean;
}

/** Changes one comparison lists unless told otherwise. */
const MAX_CHANGES = 100_000;
const SLICE = 256;

/**
 * Compares two trees by the ids of their entries: what is equal is never read. A file that became a directory
 * is a deletion and additions; any other change of type is one change.
 */
export async function diffTrees(
  store: ObjectStore,
  oldTree: Oid,
  newTree: Oid,
  options: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<TreeDiff> {
  const limit = options.limit ?? MAX_CHANGES;
  const walk = new PairWalk(oldTree, newTree);
  const enough = (objects: SyncObjects) => walk.step(objects) || walk.changes.length > limit;
  await inSlices(store, SLICE, enough, options.signal);
  const truncated = walk.changes.length > limit;
  return { changes: truncated ? walk.changes.slice(0, limit) : walk.changes, truncated };
}

interface Level {
  readonly old: Side;
  readonly new: Side;
  readonly prefix: string;
}

/** Two trees side by side, a pair of directories per level. */
class PairWalk {
  readonly changes: TreeChange[] = [];
  readonly #levels: Level[] = [];
  #enter: { old: Oid; new: Oid; prefix: string } | undefined;

  constructor(oldTree: Oid, newTree: Oid) {
    if (oldTree !== newTree) this.#enter = { old: oldTree, new: newTree, prefix: '' };
  }

  /** Reads one pair of directories and walks on to the next. @returns true at the end */
  step(objects: SyncObjects): boolean {
    if (this.#enter) {
      const { old, new: other, prefix } = this.#enter;
      const [oldData, newData] = gather([old, other], (oid) => readTreeBytes(objects, oid));
      this.#levels.push({ old: new Side(oldData!), new: new Side(newData!), prefix });
      this.#enter = undefined;
    }
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      this.#compare(level);
      if (this.#enter) return false;
      this.#levels.pop();
    }
    return true;
  }

  /** Goes on in one pair of directories until it ends, or a pair below must be entered. */
  #compare({ old: before, new: after, prefix }: Level): void {
    while (!this.#enter) {
      const [a, b] = [before.current, after.current];
      if (a === undefined && b === undefined) return;
      const order = a === undefined ? 1 : b === undefined || a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
      if (order <= 0) before.next();
      if (order >= 0) after.next();
      this.#pair(prefix, order <= 0 ? a : undefined, order >= 0 ? b : undefined);
    }
  }

  #pair(prefix: string, a: Current | undefined, b: Current | undefined): void {
    if (a && b && a.oid === b.oid && a.mode === b.mode) return;
    const path = (prefix + (a ?? b)!.name) as RawPath;
    if ((a ?? b)!.mode === DIRECTORY) {
      this.#enter = { old: a?.oid ?? EMPTY_TREE, new: b?.oid ?? EMPTY_TREE, prefix: `${path}/` };
    } else {
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
