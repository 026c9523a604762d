import { CorruptData } from '../corrupt-data.ts';
import { ObjectMissing } from '../objects.ts';
import { EMPTY_TREE, oidBytes, oidFromBytes } from '../oid.ts';
import { resized } from '../pack/entry-table.ts';
import { NameTable } from '../pack/name-table.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { type EntryVisitor, type WalkedTree, walkTree } from '../pack/tree-walk.ts';
import { parseCommitLinks } from '../parse.ts';
import type { EnumerateOptions } from './options.ts';

/** Flags of an object. */
export const INTERESTING = 1;
export const EXCLUDED = 2;
/** In the list, or waiting to be added. */
export const TAKEN = 4;
/** Excluded with everything it reaches. */
export const CLOSED = 8;
/** Requested by id: the filter does not apply. */
export const GIVEN = 16;
/** Taken or excluded as a file: what is a commit, or is named as a tree elsewhere, is still to be read. */
export const FILE = 32;

/** The path hash of root trees; 0 means no path. */
export const ROOT = 1;
/** Bytes of trees kept to compare with. */
const MAX_KEPT_TREE_BYTES = 24 * 1024 * 1024;

export interface MetCommit {
  readonly id: number;
  readonly tree: number;
  readonly parents: readonly number[];
  readonly date: number;
  /** Its parents must not be sent. */
  readonly shallow: boolean;
  /** The receiver does not have its parents. */
  readonly edge: boolean;
}

/** The objects that a walk has found, by number, with their flags. */
export class MetObjects {
  readonly table = new NameTable();
  flags = new Uint8Array(1024);
  readonly #options: EnumerateOptions;
  /** By object number: index in the commits plus one. */
  #commitOf = new Int32Array(1024);
  readonly #commits: MetCommit[] = [];
  /**
   * By path: the tree read last, whose entries are all known. Paths are hashes and may collide, which does no harm: any
   * tree whose entries are all known can be used, a similar one is best.
   */
  readonly #lastTrees = new Map<number, WalkedTree>();
  #lastTreeBytes = 0;
  #emptyTree: number | undefined;

  constructor(options: EnumerateOptions) {
    this.#options = options;
  }

  id(name: Uint8Array, at: number): number {
    const id = this.table.add(name, at);
    if (id >= this.flags.length) {
      this.flags = resized(this.flags, 2 * this.flags.length);
      this.#commitOf = resized(this.#commitOf, 2 * this.#commitOf.length);
    }
    return id;
  }

  is(id: number, flags: number): boolean {
    return (this.flags[id]! & flags) !== 0;
  }

  /** The commit with this number, once it is loaded. */
  commit(id: number): MetCommit | undefined {
    return this.#commits[this.#commitOf[id]! - 1];
  }

  /** Reads a commit's links, once. @throws ObjectMissing, CorruptData */
  load(objects: PackObjects, id: number): MetCommit {
    const known = this.commit(id);
    if (known) return known;
    this.locateOrFail(objects, id);
    const oid = oidFromBytes(this.table.names, 20 * id);
    const { type, data } = objects.readAt(objects.pack, objects.offset);
    if (type !== 'commit') throw new CorruptData('object-malformed', `${oid} is a ${type}, not a commit`);
    const links = parseCommitLinks(data);
    const commit = {
      id,
      tree: this.id(oidBytes(links.tree), 0),
      parents: links.parents.map((parent) => this.id(oidBytes(parent), 0)),
      date: links.committed,
      shallow: this.#options.shallow?.has(oid) ?? false,
      edge: this.#options.excludeShallow?.has(oid) ?? false,
    };
    this.#commits.push(commit);
    this.#commitOf[id] = this.#commits.length;
    return commit;
  }

  /** Visits the entries of a tree that may be new; the caller must have located it. */
  entries(objects: PackObjects, id: number, path: number, visit: EntryVisitor): void {
    if (this.isEmptyTree(id)) return;
    const { type, data } = objects.readAt(objects.pack, objects.offset);
    // A tree or a commit may name as one what is none: there is nothing in it.
    if (type !== 'tree') return;
    // With a depth limit, an object found at one level may still be wanted at another.
    const before = this.#options.filter?.treeDepth !== undefined ? undefined : this.#lastTrees.get(path);
    const walked = walkTree(data, before, visit);
    this.#lastTreeBytes += data.length - (before?.data.length ?? 0);
    if (this.#lastTreeBytes > MAX_KEPT_TREE_BYTES) {
      this.#lastTrees.clear();
      this.#lastTreeBytes = data.length;
    }
    this.#lastTrees.set(path, walked);
  }

  locate(objects: PackObjects, id: number): boolean {
    return objects.locate(this.table.names, 20 * id);
  }

  locateOrFail(objects: PackObjects, id: number): void {
    if (!this.locate(objects, id) && !this.isEmptyTree(id)) {
      throw new ObjectMissing(oidFromBytes(this.table.names, 20 * id));
    }
  }

  isEmptyTree(id: number): boolean {
    return id === (this.#emptyTree ??= this.id(oidBytes(EMPTY_TREE), 0));
  }
}

/** The hash of a path below `path`: 32-bit FNV-1a over the name that ends at `end`. */
export function pathBelow(path: number, data: Uint8Array, nameAt: number, end: number): number {
  let key = path ^ 0x811c9dc5;
  for (let i = nameAt; i < end; i++) key = Math.imul(key ^ data[i]!, 0x01000193);
  return key;
}
