import { hashObject } from '../parse.ts';
import type { Pack } from './pack-cache.ts';
import { entryEnds } from './pack-index.ts';
import type { PackObjects } from './pack-objects.ts';

/**
 * If less than 1/50 of a large pack is wanted, its entries are looked up one by one instead of sorting all offsets, unless
 * these are sorted already.
 */
export const SPARSE_SHARE = 50;
const MIN_SPARSE_OBJECTS = 20_000;
/** If more than 1/256 of a pack is wanted, one pass over its offsets takes less than to inflate these entries for their ends. */
const ENDS_SHARE = 256;
/** The end of a larger object is read from the index, not found by inflating it. */
const MAX_INFLATED_BYTES = 4 * 2 ** 20;

/** @param count objects wanted of the pack */
export function sourceEntries(pack: Pack, count: number): SourceEntries {
  const { index } = pack;
  const sparse =
    index.count > MIN_SPARSE_OBJECTS && count * SPARSE_SHARE < index.count && !index.hasSortedOffsets;
  return sparse ? new SparseEntries(pack) : new SortedEntries(pack);
}

/** What the writer needs to know about the entries of one pack. */
export interface SourceEntries {
  /** Adds object `i` of the list, at this position of the pack's index. */
  add(i: number, position: number): void;
  /** List indexes in the order of offsets. */
  inOrder(): Iterable<number>;
  /** List index of the entry at `offset`, or -1. */
  listed(offset: number): number;
  /** Id of the entry at `offset`. */
  nameAt(objects: PackObjects, offset: number): Uint8Array;
  /** End of the entry at `offset`. */
  end(objects: PackObjects, offset: number, dataAt: number, size: number): number;
  /** The entry's expected CRC-32, if known. */
  crc(position: number): number | undefined;
}

/** For most entries of a pack: sorts all offsets. */
class SortedEntries implements SourceEntries {
  readonly #pack: Pack;
  readonly #listed: Int32Array;

  constructor(pack: Pack) {
    this.#pack = pack;
    pack.index.sortedOffsets();
    this.#listed = new Int32Array(pack.index.count).fill(-1);
  }

  add(i: number, position: number): void {
    this.#listed[this.#pack.index.sortedOffsets().ranks[position]!] = i;
  }

  *inOrder(): Generator<number> {
    for (const i of this.#listed) if (i >= 0) yield i;
  }

  listed(offset: number): number {
    return this.#listed[this.#pack.index.sortedOffsets().rank(offset)]!;
  }

  nameAt(_objects: PackObjects, offset: number): Uint8Array {
    const sorted = this.#pack.index.sortedOffsets();
    return this.#pack.index.nameBytes(sorted.positions[sorted.rank(offset)]!);
  }

  end(_objects: PackObjects, offset: number): number {
    const sorted = this.#pack.index.sortedOffsets();
    return sorted.offsets[sorted.rank(offset) + 1]!;
  }

  crc(position: number): number {
    return this.#pack.index.crc(position);
  }
}

/** For a few objects of a large pack: reads only them and their bases. */
class SparseEntries implements SourceEntries {
  readonly #pack: Pack;
  readonly #added: { i: number; position: number }[] = [];
  /** By offset, where it takes less to find all ends than to inflate each entry. */
  #ends: Map<number, number> | undefined;
  #byOffset: Map<number, number> | undefined;

  constructor(pack: Pack) {
    this.#pack = pack;
  }

  add(i: number, position: number): void {
    this.#added.push({ i, position });
  }

  inOrder(): Iterable<number> {
    const { index } = this.#pack;
    const rows = this.#added.map(({ i, position }) => [index.offset(position), i] as const);
    this.#byOffset = new Map(rows.sort((a, b) => a[0] - b[0]));
    if (index.inMemory && rows.length * ENDS_SHARE > index.count) {
      const starts = Float64Array.from(this.#byOffset.keys());
      const ends = entryEnds(index.whole(), starts, this.#pack.description.packSize);
      this.#ends = new Map(Array.from(starts, (start, at) => [start, ends[at]!]));
    }
    return this.#byOffset.values();
  }

  listed(offset: number): number {
    return this.#byOffset?.get(offset) ?? -1;
  }

  nameAt(objects: PackObjects, offset: number): Uint8Array {
    const { type, data } = objects.readAt(this.#pack, offset);
    return Buffer.from(hashObject(type, data), 'hex');
  }

  end(objects: PackObjects, offset: number, dataAt: number, size: number): number {
    const known = this.#ends?.get(offset);
    if (known !== undefined) return known;
    if (size > MAX_INFLATED_BYTES) {
      const sorted = this.#pack.index.sortedOffsets();
      return sorted.offsets[sorted.rank(offset) + 1]!;
    }
    return dataAt + objects.deflatedLength(this.#pack, dataAt, size);
  }

  crc(position: number): number {
    return this.#pack.index.crc(position);
  }
}
