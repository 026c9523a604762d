import type { SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { type WalkedTree, walkTree } from '../pack/tree-walk.ts';
import { readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import type { CommitNode } from './commit-node.ts';

/** Number of parents whose differences are cached; further parents of an octopus merge are compared each time. */
const PARENTS_COMPARED = 2;
/** Trees cached between two diffs: the tree of a parent is that of the next commit. */
const MAX_CACHED_TREES = 64;

/**
 * Caches which names in its root tree a commit changed, relative to each of its first two parents, so that a walk for
 * one path saves the next walk, for another path, reading most trees. A Bloom filter of 64 bits per parent (after the
 * changed-path filters of gitformat-commit-graph): may give false positives, never false negatives.
 */
export class ChangedNames {
  /** By commit: two words per parent; both 0 when not computed. */
  #words = new Uint32Array(1024 * 2 * PARENTS_COMPARED);
  readonly #recent = new Map<Oid, WalkedTree>();

  /** Whether the entry of that name may differ between the commit and that parent. May throw BlockMiss. */
  mayDiffer(
    objects: SyncObjects,
    node: CommitNode,
    number: number,
    parent: CommitNode,
    bit: NameBit,
  ): boolean {
    if (node.tree === parent.tree) return false;
    if (number >= PARENTS_COMPARED) return true;
    const at = 2 * (PARENTS_COMPARED * node.index + number);
    if (at + 1 >= this.#words.length) this.#grow(at);
    if (this.#words[at] === 0 && this.#words[at + 1] === 0) this.#learn(objects, node.tree, parent.tree, at);
    return (this.#words[at + bit.word]! & bit.mask) !== 0;
  }

  #learn(objects: SyncObjects, one: Oid, other: Oid, at: number): void {
    const [data, otherData] = [readTreeBytes(objects, one), readTreeBytes(objects, other)];
    const known = this.#recent.get(one) ?? walkTree(data, undefined, IGNORE_ENTRY, true);
    let onlyChanged = data.length === otherData.length;
    const add = (tree: Uint8Array, idAt: number, _kind: number, nameAt: number) => {
      const { word, mask } = bitOf(tree, nameAt, idAt - 1);
      this.#words[at + word]! |= mask;
      onlyChanged &&= sameBytes(tree, data, nameAt - 8, idAt);
    };
    // First the changed and removed names; then the added ones, unless all names are at the same positions.
    const otherKnown = walkTree(otherData, known, add, true);
    if (!onlyChanged || !sameStarts(known, otherKnown)) walkTree(data, otherKnown, add, true);
    this.#keep(one, known);
    this.#keep(other, otherKnown);
  }

  #keep(oid: Oid, tree: WalkedTree): void {
    this.#recent.delete(oid);
    this.#recent.set(oid, tree);
    if (this.#recent.size > MAX_CACHED_TREES) this.#recent.delete(this.#recent.keys().next().value!);
  }

  #grow(at: number): void {
    const larger = new Uint32Array(2 * Math.max(at + 2, this.#words.length));
    larger.set(this.#words);
    this.#words = larger;
  }
}

const IGNORE_ENTRY = () => {};

/** Whether two trees have the same number of entries, of the same lengths. */
function sameStarts(one: WalkedTree, other: WalkedTree): boolean {
  return (
    one.starts.length === other.starts.length &&
    Buffer.compare(new Uint8Array(one.starts.buffer), new Uint8Array(other.starts.buffer)) === 0
  );
}

function sameBytes(one: Uint8Array, other: Uint8Array, from: number, to: number): boolean {
  for (let i = Math.max(0, from); i < to; i++) if (one[i] !== other[i]) return false;
  return true;
}

/** The bit of a name in a filter. */
export interface NameBit {
  readonly word: 0 | 1;
  readonly mask: number;
}

export function nameBit(name: RawPath): NameBit {
  return bitOf(Buffer.from(name, 'latin1'), 0, name.length);
}

/** FNV-1a over the bytes [from, to). */
function bitOf(bytes: Uint8Array, from: number, to: number): NameBit {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash ^= hash >>> 15;
  return { word: hash & 32 ? 1 : 0, mask: 1 << (hash & 31) };
}
