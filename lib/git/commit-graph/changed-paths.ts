import type { SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import { TREE } from '../pack/entry.ts';
import { type WalkedTree, walkTree } from '../pack/tree-walk.ts';
import { canonicalMode, readTreeBytes } from '../tree/entry.ts';
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

/** Computes the filters of commits one after another; neighbours share most trees. */
export class ChangedPaths {
  readonly #recent = new Map<Oid, WalkedTree>();

  /** The filter of a commit with root tree `tree` whose first parent has `parentTree`. */
  of(tree: Oid, parentTree: Oid): FilterSteps {
    const paths: string[] = [];
    const pairs: Pair[] = [{ one: tree, other: parentTree, prefix: '' }];
    let count = 0;
    return (objects) => {
      const pair = pairs.pop();
      if (paths.length > MAX_CHANGES || (pair && ++count > MAX_PAIRS)) return ALWAYS;
      if (pair === undefined) return bloomFilter(paths);
      try {
        this.#compare(objects, pair, paths, pairs);
      } catch (error) {
        // Nothing was added: both trees are read first.
        pairs.push(pair);
        count--;
        throw error;
      }
      return undefined;
    };
  }

  /** Adds the paths that differ between two trees, and the pairs of their subdirectories that differ. */
  #compare(objects: SyncObjects, { one, other, prefix }: Pair, paths: string[], pairs: Pair[]): void {
    if (one === other) return;
    const differing = new Map<string, { one?: Side; other?: Side }>();
    const collect = (side: 'one' | 'other', starts: Uint32Array) => {
      return (data: Uint8Array, at: number, kind: number, nameAt: number) => {
        const name = Buffer.from(data.buffer, data.byteOffset + nameAt, at - 1 - nameAt).toString('latin1');
        const key = kind === TREE ? `${name}/` : name;
        const found = differing.get(key) ?? {};
        found[side] = { oid: oidFromBytes(data, at), mode: modeBefore(data, nameAt, starts) };
        differing.set(key, found);
      };
    };
    const data = readTreeBytes(objects, one);
    const otherData = readTreeBytes(objects, other);
    const walked = this.#recent.get(one) ?? walkTree(data, undefined, IGNORE_ENTRY, true);
    const otherWalked = this.#recent.get(other) ?? walkTree(otherData, walked, IGNORE_ENTRY, true);
    walkTree(otherData, walked, collect('other', otherWalked.starts), true);
    walkTree(data, otherWalked, collect('one', walked.starts), true);
    for (const [key, sides] of differing) {
      if (key.endsWith('/')) {
        const [below, otherBelow] = [sides.one?.oid ?? EMPTY_TREE, sides.other?.oid ?? EMPTY_TREE];
        pairs.push({ one: below, other: otherBelow, prefix: prefix + key });
      } else if (sides.one?.oid !== sides.other?.oid || sides.one?.mode !== sides.other?.mode) {
        paths.push(prefix + key);
      }
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

/** The mode of the entry whose name starts at `nameAt`; `starts` are the starts of all entries. */
function modeBefore(data: Uint8Array, nameAt: number, starts: Uint32Array): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= nameAt) low = middle + 1;
    else high = middle;
  }
  let mode = 0;
  for (let at = starts[low - 1]!; data[at] !== 0x20; at++) mode = (mode << 3) | (data[at]! & 7);
  return canonicalMode(mode);
}
