import { asBuffer } from '../../bytes/as-buffer.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import { TREE } from '../pack/entry.ts';
import { type EntryVisitor, type WalkedTree, walkTree } from '../pack/tree-walk.ts';
import { canonicalMode, GITLINK, readTreeBytes } from '../tree/entry.ts';
import { ALWAYS, bloomFilter, MAX_CHANGES } from './bloom.ts';

/** Trees cached between two diffs: the tree of a parent is that of the next commit. */
const MAX_CACHED_TREES = 256;
/** Pairs of trees compared for one filter: a few trees can name each other billions of times. */
const MAX_PAIRS = 20_000;

interface Side {
  readonly oid: Oid;
  readonly mode: number;
}

interface Pair {
  readonly one: Oid;
  readonly other: Oid;
  readonly prefix: string;
}

/**
 * Compares one pair of trees. May be called again after a BlockMiss. @returns the filter at the end
 * @throws BlockMiss, ObjectMissing, CorruptData
 */
export type FilterSteps = (objects: SyncObjects) => Uint8Array | undefined;

/** Told of each tree and blob of a commit that its first parent has not at the same path; of some twice. */
export interface Brought {
  /** @param kind of the object with the 20 bytes at `name[at]` */
  object(name: Uint8Array, at: number, kind: number): void;
  /** The commit has more than is compared, or what cannot be. */
  tooMany(): void;
}

/** Computes the filters of commits one after another; neighbours share most trees. */
export class ChangedPaths {
  readonly #recent = new Map<Oid, WalkedTree>();

  /** The filter of a commit with root tree `tree` whose first parent has `parentTree`. */
  of(tree: Oid, parentTree: Oid, brought?: Brought): FilterSteps {
    const paths: string[] = [];
    const pairs: Pair[] = [{ one: tree, other: parentTree, prefix: '' }];
    let count = 0;
    return (objects) => {
      const pair = pairs.pop();
      const isAlways = paths.length > MAX_CHANGES;
      if (isAlways && brought === undefined) return ALWAYS;
      if (pair === undefined) return isAlways ? ALWAYS : bloomFilter(paths);
      if (++count > MAX_PAIRS) {
        brought?.tooMany();
        return ALWAYS;
      }
      try {
        this.#compare(objects, pair, paths, pairs, brought);
      } catch (error) {
        // A tree may name as one what is none.
        if (error instanceof CorruptData && error.code === 'object-malformed') {
          brought?.tooMany();
          return ALWAYS;
        }
        // Nothing was added: both trees are read first.
        pairs.push(pair);
        count--;
        throw error;
      }
      return undefined;
    };
  }

  /** Adds the paths that differ between two trees, and the pairs of their subdirectories that differ. */
  #compare(
    objects: SyncObjects,
    { one, other, prefix }: Pair,
    paths: string[],
    pairs: Pair[],
    brought: Brought | undefined,
  ): void {
    if (one === other) return;
    const known = this.#recent.get(one);
    const otherKnown = this.#recent.get(other);
    const data = known?.data ?? readTreeBytes(objects, one);
    const otherData = otherKnown?.data ?? readTreeBytes(objects, other);
    const differing = new Map<string, { one?: Side; other?: Side }>();
    const collect =
      (side: 'one' | 'other'): EntryVisitor =>
      (bytes, at, kind, nameAt, start) => {
        const name = asBuffer(bytes).toString('latin1', nameAt, at - 1);
        const key = kind === TREE ? `${name}/` : name;
        const found = differing.get(key) ?? {};
        // Of two trees of one name the first would not be compared.
        if (found[side] !== undefined) brought?.tooMany();
        const mode = modeAt(bytes, start);
        found[side] = { oid: oidFromBytes(bytes, at), mode: canonicalMode(mode) };
        differing.set(key, found);
        if (side === 'one' && (mode & KIND) !== GITLINK) brought?.object(bytes, at, kind);
      };
    const walked = known ?? walkTree(data, otherKnown, IGNORE_ENTRY, true);
    const otherWalked = walkTree(otherData, walked, collect('other'), true, collect('one'));
    for (const [key, sides] of differing) {
      if (key.endsWith('/')) {
        const [below, otherBelow] = [sides.one?.oid ?? EMPTY_TREE, sides.other?.oid ?? EMPTY_TREE];
        pairs.push({ one: below, other: otherBelow, prefix: prefix + key });
      } else if (paths.length <= MAX_CHANGES && !isSame(sides.one, sides.other)) paths.push(prefix + key);
    }
    this.#keep(one, walked);
    this.#keep(other, otherWalked);
  }

  #keep(oid: Oid, tree: WalkedTree): void {
    this.#recent.delete(oid);
    this.#recent.set(oid, tree);
    if (this.#recent.size > MAX_CACHED_TREES) this.#recent.delete(this.#recent.keys().next().value!);
  }
}

const IGNORE_ENTRY = () => {};

const isSame = (one: Side | undefined, other: Side | undefined): boolean =>
  one?.oid === other?.oid && one?.mode === other?.mode;

/** The bits of a mode that tell the kind of an entry. */
const KIND = 0o170000;

/** The mode of the entry that begins at `start`. */
function modeAt(data: Uint8Array, start: number): number {
  let mode = 0;
  for (let at = start; data[at] !== 0x20; at++) mode = (mode << 3) | (data[at]! & 7);
  return mode;
}
