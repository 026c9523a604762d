import { Effort, type Steps } from '../work.ts';
import { compareNames } from './object-names.ts';

/** The entries of a pack being received, in columns, by number in the pack. */
export class EntryTable {
  count = 0;
  /** End of the last entry. */
  end = 0;
  /** Start of the entry; ascending. */
  offsets = new Float64Array(256);
  /** Type as stored: an object type, OFS_DELTA or REF_DELTA. */
  stored = new Uint8Array(256);
  /** Object type; 0 until known. */
  types = new Uint8Array(256);
  /** Bytes of the entry's header. */
  heads = new Uint8Array(256);
  /** Inflated size of the object or the delta. */
  sizes = new Uint32Array(256);
  crcs = new Uint32Array(256);
  /** OFS_DELTA: number of the base. REF_DELTA: number in `baseNames`. Else -1. */
  bases = new Int32Array(256);
  /** Object ids, 20 bytes each, once known. */
  names = new Uint8Array(256 * 20);
  /** Ids of REF_DELTA bases, 20 bytes each, in order of their deltas. */
  baseNames = new Uint8Array(0);
  baseNameCount = 0;

  add(offset: number, stored: number, head: number, size: number): number {
    const entry = this.count++;
    if (entry === this.offsets.length) this.#grow(2 * entry);
    this.offsets[entry] = offset;
    this.stored[entry] = stored;
    this.heads[entry] = head;
    this.sizes[entry] = size;
    this.bases[entry] = -1;
    return entry;
  }

  addBaseName(bytes: Uint8Array, at: number): number {
    const number = this.baseNameCount++;
    if (20 * this.baseNameCount > this.baseNames.length) {
      this.baseNames = resized(this.baseNames, Math.max(640, 2 * this.baseNames.length));
    }
    this.baseNames.set(bytes.subarray(at, at + 20), 20 * number);
    return number;
  }

  /** @returns the entry that starts at `offset`, or -1 */
  at(offset: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.offsets[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low < this.count && this.offsets[low] === offset ? low : -1;
  }

  /** Entries sorted by id. */
  *sortedByName(): Steps<Uint32Array> {
    const { count, names } = this;
    const order = new Uint32Array(count);
    const effort = new Effort();
    // By their first byte, so that each part is sorted in a moment.
    const ends = new Uint32Array(256);
    for (let i = 0; i < count; i++) ends[names[20 * i]!]!++;
    for (let byte = 1; byte < 256; byte++) ends[byte]! += ends[byte - 1]!;
    const starts = Uint32Array.from(ends, (_, byte) => (byte === 0 ? 0 : ends[byte - 1]!));
    // The next bits, up to 32, and the entry's number are packed into one double, which sorts natively; then sort ties.
    const less = Math.max(0, 11 - Math.clz32(count));
    const span = 2 ** (21 + less);
    const keys = new Float64Array(count);
    const next = starts.slice();
    for (let i = 0; i < count; i++) {
      const at = 20 * i;
      const bits =
        ((names[at + 1]! << 24) | (names[at + 2]! << 16) | (names[at + 3]! << 8) | names[at + 4]!) >>> 0;
      keys[next[names[at]!]!++] = (bits >>> less) * span + i;
      if (effort.spend(10)) yield;
    }
    for (let byte = 0; byte < 256; byte++) {
      keys.subarray(starts[byte], ends[byte]).sort();
      if (effort.spend(20 * (ends[byte]! - starts[byte]!))) yield;
      for (let i = starts[byte]!; i < ends[byte]!; i++) {
        const entry = keys[i]! % span;
        let to = i;
        while (to > starts[byte]! && compareNames(names, 20 * order[to - 1]!, names, 20 * entry) > 0) {
          order[to] = order[to - 1]!;
          to--;
        }
        order[to] = entry;
        if (effort.spend(10)) yield;
      }
    }
    return order;
  }

  #grow(capacity: number): void {
    this.offsets = resized(this.offsets, capacity);
    this.stored = resized(this.stored, capacity);
    this.types = resized(this.types, capacity);
    this.heads = resized(this.heads, capacity);
    this.sizes = resized(this.sizes, capacity);
    this.crcs = resized(this.crcs, capacity);
    this.bases = resized(this.bases, capacity);
    this.names = resized(this.names, capacity * 20);
  }
}

type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

export function resized<T extends Column>(column: T, length: number): T {
  const larger = new (column.constructor as new (length: number) => T)(length);
  larger.set(column as never);
  return larger;
}
