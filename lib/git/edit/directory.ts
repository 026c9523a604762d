import { type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import { TreeCursor } from '../parse.ts';
import { canonicalMode, DIRECTORY, type Entry, findName, rawName } from '../tree/entry.ts';
import { type RawPath, ROOT } from '../tree/path.ts';
import { orderKey } from '../tree/walk.ts';
import { Effort, type Steps } from '../work.ts';

/**
 * A directory being edited: the bytes of its tree, and the changes to them. Unchanged entries are copied as bytes, so
 * that apart from copying, a change costs the same in a directory of ten files as in one of a million.
 */
export class Directory {
  /** The tree it came from; undefined for a new one. */
  readonly #oid: Oid | undefined;
  #data: Uint8Array | undefined;
  /** By name: the new entry, or undefined where one was removed. */
  readonly #changes = new Map<RawPath, Entry | undefined>();
  /** Subdirectories that were opened or created. */
  readonly #below = new Map<RawPath, Directory>();
  /** The entries of the old tree by name, built after some lookups. */
  #index: Map<RawPath, Entry> | undefined;
  #lookups = 0;
  /** Entries, changes included; counted when first needed. */
  #count: number | undefined;

  constructor(oid: Oid | undefined) {
    this.#oid = oid;
    if (oid === undefined) this.#data = new Uint8Array(0);
  }

  /** Must be called before any other method; may be repeated. */
  open(read: (tree: Oid) => Uint8Array): void {
    if (this.#data === undefined && this.#oid !== undefined) this.#data = read(this.#oid);
  }

  entry(name: RawPath): Entry | undefined {
    return this.#changes.has(name) ? this.#changes.get(name) : this.#before(name);
  }

  /** The subdirectory of that name; call its {@link open} before using it. */
  directory(name: RawPath): Directory | undefined {
    const known = this.#below.get(name);
    if (known) return known;
    const entry = this.entry(name);
    if (entry?.mode !== DIRECTORY) return undefined;
    const below = new Directory(entry.oid);
    this.#below.set(name, below);
    return below;
  }

  /** Creates a subdirectory; {@link write} gives it its id. */
  make(name: RawPath): Directory {
    const below = new Directory(undefined);
    this.#below.set(name, below);
    this.set(name, { mode: DIRECTORY, oid: PENDING });
    return below;
  }

  set(name: RawPath, entry: Entry): void {
    if (this.#count !== undefined && !this.entry(name)) this.#count++;
    this.#changes.set(name, entry);
  }

  remove(name: RawPath): void {
    if (this.#count !== undefined && this.entry(name)) this.#count--;
    this.#below.delete(name);
    this.#changes.set(name, undefined);
  }

  get empty(): boolean {
    if (this.#count === undefined) {
      this.#count = 0;
      for (const cursor = new TreeCursor(this.#bytes); cursor.next(); ) {
        if (!this.#changes.has(rawName(cursor))) this.#count++;
      }
      for (const entry of this.#changes.values()) if (entry) this.#count++;
    }
    return this.#count === 0;
  }

  /**
   * Writes the changed directories, subdirectories first. Without recursion: a pushed tree may be as deep as it likes.
   * @param write stores the bytes of a tree and returns its id
   */
  *write(write: (data: Uint8Array) => Oid): Steps<Oid> {
    const open: Writing[] = [{ directory: this, name: ROOT, left: [...this.#below] }];
    for (;;) {
      const { directory, name, left } = open.at(-1)!;
      const next = left.pop();
      if (next !== undefined) {
        const [below, child] = next;
        if (child.#data !== undefined) open.push({ directory: child, name: below, left: [...child.#below] });
        continue;
      }
      open.pop();
      const same = directory.#changes.size === 0 ? directory.#oid : undefined;
      const oid = same ?? write(yield* directory.#encode());
      yield;
      const parent = open.at(-1);
      if (parent === undefined) return oid;
      if (oid !== directory.#oid) parent.directory.#changes.set(name, { mode: DIRECTORY, oid });
    }
  }

  /** Merges the changes into the bytes. */
  *#encode(): Steps<Uint8Array> {
    const effort = new Effort();
    const added = [...this.#changes]
      .flatMap(([name, entry]) =>
        entry ? [{ name, entry, key: orderKey({ path: name, mode: entry.mode }) }] : [],
      )
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const parts: Uint8Array[] = [];
    const data = this.#bytes;
    let next = 0;
    let from = 0;
    let start = 0;
    for (const cursor = new TreeCursor(data); cursor.next(); start = cursor.oidStart + 20) {
      if (effort.spend(ENTRY_EFFORT)) yield;
      const name = rawName(cursor);
      const key = orderKey({ path: name, mode: canonicalMode(cursor.mode) });
      const changed = this.#changes.has(name);
      if (!changed && !(next < added.length && added[next]!.key < key)) continue;
      parts.push(data.subarray(from, start));
      from = changed ? cursor.oidStart + 20 : start;
      while (next < added.length && added[next]!.key < key) parts.push(encodeEntry(added[next++]!));
    }
    parts.push(data.subarray(from));
    for (; next < added.length; next++) parts.push(encodeEntry(added[next]!));
    return Buffer.concat(parts);
  }

  #before(name: RawPath): Entry | undefined {
    if (this.#index === undefined && this.#lookups++ > FEW_LOOKUPS) {
      this.#index = new Map();
      for (const cursor = new TreeCursor(this.#bytes); cursor.next(); ) {
        const entry = { mode: canonicalMode(cursor.mode), oid: oidFromBytes(cursor.data, cursor.oidStart) };
        this.#index.set(rawName(cursor), entry);
      }
    }
    return this.#index ? this.#index.get(name) : findName(this.#bytes, name);
  }

  get #bytes(): Uint8Array {
    if (this.#data === undefined) throw new Error('directory was not opened');
    return this.#data;
  }
}

/** A directory that is being written, and its subdirectories that are not written yet. */
interface Writing {
  readonly directory: Directory;
  readonly name: RawPath;
  readonly left: [RawPath, Directory][];
}

/** What looking at an entry costs. */
const ENTRY_EFFORT = 100;

/** Up to this many lookups, scanning the bytes is cheaper than an index. */
const FEW_LOOKUPS = 16;

/** Placeholder for the id until {@link Directory.write}. */
const PENDING = '0'.repeat(40) as Oid;

function encodeEntry({ name, entry }: { name: RawPath; entry: Entry }): Uint8Array {
  return Buffer.concat([Buffer.from(`${entry.mode.toString(8)} ${name}\0`, 'latin1'), oidBytes(entry.oid)]);
}
