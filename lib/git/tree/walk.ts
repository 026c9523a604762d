import { readAhead } from '../batch-misses.ts';
import type { SyncObjects } from '../objects.ts';
import { type Oid, oidFromBytes } from '../oid.ts';
import { TreeCursor } from '../parse.ts';
import { LimitExceeded } from '../work.ts';
import { canonicalMode, DIRECTORY, rawName, readTreeBytes } from './entry.ts';
import { type RawPath, ROOT } from './path.ts';

export interface WalkedEntry {
  readonly mode: number;
  readonly oid: Oid;
  readonly name: RawPath;
  /** From the walk's root tree. */
  readonly path: RawPath;
}

/** Bytes of a path, as Linux allows (`PATH_MAX`): longer ones cannot be checked out, and chains of trees cost by depth. */
const MAX_PREFIX = 4096;

/** Directories prefetched when one is missing. */
const READ_AHEAD = 64;

interface Level {
  readonly cursor: TreeCursor;
  /** `a/b/`, or '' at the top */
  readonly prefix: string;
}

/**
 * Walks every entry below a tree, a directory before its entries: the order of `git ls-tree -r -t`. Holds one
 * tree per level and reads a directory only when the walk enters it. A step that misses a block changes
 * nothing, so the walk can continue when {@link ObjectStore.run} calls it again.
 */
export class TreeWalk {
  readonly #levels: Level[] = [];
  #enter: { oid: Oid; prefix: string } | undefined;

  constructor(root: Oid, prefix: RawPath = ROOT) {
    this.#enter = { oid: root, prefix: prefix === '' ? '' : `${prefix}/` };
  }

  /** The next entry, undefined at the end. */
  next(objects: SyncObjects): WalkedEntry | undefined {
    if (this.#enter) {
      const read = (oid: Oid) => readTreeBytes(objects, oid);
      const data = readAhead(this.#enter.oid, () => this.#nextDirectories(), read);
      this.#levels.push({ cursor: new TreeCursor(data), prefix: this.#enter.prefix });
      this.#enter = undefined;
    }
    for (;;) {
      const level = this.#levels.at(-1);
      if (level === undefined) return undefined;
      if (level.cursor.next()) return this.#entry(level);
      this.#levels.pop();
    }
  }

  /** Skips the entries of the directory that was returned last. */
  skipChildren(): void {
    this.#enter = undefined;
  }

  /** The directories that are entered next, as many as should be prefetched. */
  #nextDirectories(): Oid[] {
    const level = this.#levels.at(-1);
    const found: Oid[] = [];
    if (level === undefined) return found;
    for (const cursor = new TreeCursor(level.cursor.data); cursor.next() && found.length < READ_AHEAD; ) {
      if (cursor.oidStart <= level.cursor.oidStart || canonicalMode(cursor.mode) !== DIRECTORY) continue;
      found.push(oidFromBytes(cursor.data, cursor.oidStart));
    }
    return found;
  }

  #entry({ cursor, prefix }: Level): WalkedEntry {
    const name = rawName(cursor);
    const path = (prefix + name) as RawPath;
    const mode = canonicalMode(cursor.mode);
    const oid = oidFromBytes(cursor.data, cursor.oidStart);
    if (path.length > MAX_PREFIX) throw new LimitExceeded(`path over ${MAX_PREFIX} bytes below tree ${oid}`);
    if (mode === DIRECTORY) this.#enter = { oid, prefix: `${path}/` };
    return { mode, oid, name, path };
  }
}

/** A sort key for the order of entries in a recursive listing. */
export function orderKey(entry: { readonly path: string; readonly mode: number }): string {
  return entry.mode === DIRECTORY ? `${entry.path}/` : entry.path;
}
