import { type Oid, oidFromBytes } from '../oid.ts';
import { BLOB, COMMIT, TAG, TREE } from '../pack/entry.ts';
import { resized } from '../pack/entry-table.ts';
import type { WholeMergedIndex } from '../pack/merged-index.ts';
import { NameTable } from '../pack/name-table.ts';
import type { TypeBits } from './bitmap-file.ts';
import { Bits } from './bits.ts';

/** Numbers objects: first those of a merged index, in its order, then others as they are met. */
export class Numbering {
  readonly index: WholeMergedIndex;
  readonly types: TypeBits;
  readonly others = new NameTable();
  /** Type codes of the others. */
  #otherTypes = new Uint8Array(64);

  constructor(index: WholeMergedIndex, types: TypeBits) {
    this.index = index;
    this.types = types;
  }

  /** The number of the object with the 20 bytes at `name[at]`. */
  number(name: Uint8Array, at: number): number {
    const position = this.index.find(name, at);
    return position >= 0 ? this.index.ranks[position]! : this.index.count + this.others.add(name, at);
  }

  /** The number of an object, or -1 if it has none. */
  known(name: Uint8Array, at: number): number {
    const position = this.index.find(name, at);
    if (position >= 0) return this.index.ranks[position]!;
    const other = this.others.find(name, at);
    return other < 0 ? -1 : this.index.count + other;
  }

  /** The table of names that contains the object's, at 20 times {@link row}. */
  names(number: number): Uint8Array {
    return number < this.index.count ? this.index.names : this.others.names;
  }

  row(number: number): number {
    const { index } = this;
    return number < index.count ? index.order[number]! : number - index.count;
  }

  oid(number: number): Oid {
    return oidFromBytes(this.names(number), 20 * this.row(number));
  }

  setType(number: number, type: number): void {
    const { types } = this;
    if (number >= this.index.count) {
      const other = number - this.index.count;
      while (other >= this.#otherTypes.length)
        this.#otherTypes = resized(this.#otherTypes, 2 * this.#otherTypes.length);
      this.#otherTypes[other] = type;
    } else if (type === BLOB) types.blobs.add(number);
    else if (type === TREE) types.trees.add(number);
    else if (type === COMMIT) types.commits.add(number);
    else types.tags.add(number);
  }

  type(number: number): number {
    const { types } = this;
    if (number >= this.index.count) return this.#otherTypes[number - this.index.count]!;
    if (types.blobs.has(number)) return BLOB;
    if (types.trees.has(number)) return TREE;
    return types.commits.has(number) ? COMMIT : TAG;
  }
}

/** A set of objects, by their numbers in a {@link Numbering}. */
export class ObjectSet {
  /** Objects of the merged index. */
  readonly bits: Bits;
  readonly #size: number;
  #others = new Uint8Array(64);

  constructor(size: number) {
    this.#size = size;
    this.bits = new Bits(size);
  }

  has(number: number): boolean {
    return number < this.#size ? this.bits.has(number) : this.#others[number - this.#size] === 1;
  }

  /** @returns whether it is new */
  add(number: number): boolean {
    if (number < this.#size) return this.bits.add(number);
    const other = number - this.#size;
    while (other >= this.#others.length) this.#others = resized(this.#others, 2 * this.#others.length);
    if (this.#others[other] === 1) return false;
    this.#others[other] = 1;
    return true;
  }

  get hasOthers(): boolean {
    return this.#others.includes(1);
  }

  /** Removes the objects of `indexed`, and the others for which `test` holds. */
  removeIf(test: (number: number) => boolean, indexed: Bits): void {
    this.bits.removeAll(indexed);
    for (let i = 0; i < this.#others.length; i++) {
      if (this.#others[i] === 1 && test(this.#size + i)) this.#others[i] = 0;
    }
  }

  /** Removes all objects of `other`. */
  removeAll(other: ObjectSet): void {
    this.bits.removeAll(other.bits);
    for (let i = 0; i < this.#others.length; i++) if (other.#others[i] === 1) this.#others[i] = 0;
  }

  forEach(visit: (number: number) => void): void {
    this.bits.forEach(visit);
    for (let i = 0; i < this.#others.length; i++) if (this.#others[i] === 1) visit(this.#size + i);
  }
}
