import { CorruptData } from '../corrupt-data.ts';
import { type Oid, oidFromBytes } from '../oid.ts';
import { BLOCK_SIZE, type CachedFile } from './block-cache.ts';
import { compareNames, NameHash, readUint32 } from './object-names.ts';

const FANOUT = 8;
const NAMES = 8 + 1024;
/** Bytes per object besides 64-bit offsets: name, CRC-32, offset. */
const ROW = 28;
/** Lookups in one index after which all of it is loaded and hashed. */
const HASH_AFTER = 4096;

/** A version 2 pack index (gitformat-pack), read through the block cache. Methods throw BlockMiss. */
export class PackIndex {
  readonly count: number;
  readonly #file: CachedFile;
  readonly #packSize: number;
  #checked = false;
  #lookups = 0;
  #whole: WholeIndex | undefined;
  #offsets: SortedOffsets | undefined;

  constructor(file: CachedFile, count: number, packSize: number) {
    this.#file = file;
    this.count = count;
    this.#packSize = packSize;
  }

  /** Adds the missing blocks that a lookup of the id needs to `wanted`; estimates the row's position. */
  missing(name: Uint8Array, at: number, wanted: { file: CachedFile; block: number }[]): void {
    if (this.#whole) return;
    const file = this.#file;
    if (file.blocks.length === 1 || !this.#checked) {
      if (!file.blocks[0]) wanted.push({ file, block: 0 });
    }
    if (file.blocks.length === 1 || this.#lookups >= HASH_AFTER) return;
    // Names are evenly distributed, so the position of one is known to within a few standard deviations.
    const part = (name[at]! * 256 + name[at + 1]!) / 65536;
    const spread = 4 * Math.sqrt(this.count / 4) + 2;
    const low = Math.max(0, Math.floor(part * this.count - spread));
    const high = Math.min(this.count, Math.ceil(part * this.count + this.count / 65536 + spread));
    for (const [table, width] of [
      [NAMES, 20],
      [NAMES + 24 * this.count, 4],
    ] as const) {
      const last = Math.floor((table + width * high) / BLOCK_SIZE);
      for (let block = Math.floor((table + width * low) / BLOCK_SIZE); block <= last; block++) {
        if (block < file.blocks.length && !file.blocks[block]) wanted.push({ file, block });
      }
    }
  }

  /** @returns the position of the id at `name[at..at+20]` in the sorted list, or -1 */
  find(name: Uint8Array, at: number): number {
    if (this.#whole) return this.#whole.find(name, at);
    if (++this.#lookups > HASH_AFTER) return this.whole().find(name, at);
    this.#check();
    const first = name[at]!;
    let low = first === 0 ? 0 : this.#fanout(first - 1);
    let high = this.#fanout(first);
    if (low >= high) return -1;
    const start = low;
    const names = this.#file.slice(NAMES + 20 * low, NAMES + 20 * high);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareNames(names, 20 * (middle - start), name, at);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Positions [from, to) of the ids between two bounds that share their first byte, both included. */
  range(low: Uint8Array, high: Uint8Array): [number, number] {
    this.#check();
    const first = low[0]!;
    const start = first === 0 ? 0 : this.#fanout(first - 1);
    const end = this.#fanout(first);
    const names = this.#file.slice(NAMES + 20 * start, NAMES + 20 * end);
    return [start + lowerBound(names, low, false), start + lowerBound(names, high, true)];
  }

  /** The offset in the pack of the object at this position. */
  offset(position: number): number {
    if (this.#whole) return this.#whole.offset(position);
    const at = NAMES + 24 * this.count + 4 * position;
    const bytes = this.#file.slice(at, at + 4);
    const short = readUint32(bytes, 0);
    if (short < 0x80000000) return this.#inPack(short);
    const far = NAMES + ROW * this.count + 8 * (short - 0x80000000);
    const long = this.#file.slice(far, far + 8);
    return this.#inPack(readUint32(long, 0) * 2 ** 32 + readUint32(long, 4));
  }

  oid(position: number): Oid {
    return oidFromBytes(this.nameBytes(position));
  }

  /** The 20 bytes of the id at this position. */
  nameBytes(position: number): Uint8Array {
    if (this.#whole) return this.#whole.names.subarray(20 * position, 20 * position + 20);
    return this.#file.slice(NAMES + 20 * position, NAMES + 20 * position + 20);
  }

  /** CRC-32 of the stored entry. */
  crc(position: number): number {
    if (this.#whole) return readUint32(this.#whole.bytes, NAMES + 20 * this.count + 4 * position);
    return readUint32(
      this.#file.slice(NAMES + 20 * this.count + 4 * position, NAMES + 20 * this.count + 4 * position + 4),
      0,
    );
  }

  /** Whether lookups need no reads. */
  get inMemory(): boolean {
    return this.#whole !== undefined;
  }

  /** Bytes that this index holds in addition to the block cache. */
  get heldBytes(): number {
    return (this.#whole ? this.#file.size + 10 * this.count : 0) + (this.#offsets ? 16 * this.count : 0);
  }

  /** The whole index in memory, for scans. */
  whole(): WholeIndex {
    if (!this.#whole) {
      this.#check();
      this.#whole = new WholeIndex(this.#file.slice(0, this.#file.size), this.count, this.#packSize);
    }
    return this.#whole;
  }

  /** Whether {@link sortedOffsets} costs nothing. */
  get hasSortedOffsets(): boolean {
    return this.#offsets !== undefined;
  }

  /** Entries by offset in the pack: for lengths, and for finding a base by its offset. */
  sortedOffsets(): SortedOffsets {
    return (this.#offsets ??= new SortedOffsets(this.whole(), this.#packSize));
  }

  #fanout(byte: number): number {
    const bytes = this.#file.block(0);
    return readUint32(bytes, FANOUT + 4 * byte);
  }

  #inPack(offset: number): number {
    if (offset < 12 || offset >= this.#packSize - 20) throw malformed('offset outside the pack');
    return offset;
  }

  #check(): void {
    if (this.#checked) return;
    const file = this.#file;
    const least = NAMES + ROW * this.count + 40;
    if (file.size < least || (file.size - least) % 8 !== 0) throw malformed('size does not fit its count');
    const head = file.block(0);
    if (readUint32(head, 0) !== 0xff744f63 || readUint32(head, 4) !== 2)
      throw malformed('not a version 2 index');
    let last = 0;
    for (let byte = 0; byte < 256; byte++) {
      const count = readUint32(head, FANOUT + 4 * byte);
      if (count < last) throw malformed('fanout decreases');
      last = count;
    }
    if (last !== this.count) throw malformed('fanout and count differ');
    this.#checked = true;
  }
}

/** An index in memory, with a table over its names. */
export class WholeIndex {
  readonly bytes: Uint8Array;
  readonly names: Uint8Array;
  readonly count: number;
  readonly #packSize: number;
  readonly #hash: NameHash;

  constructor(bytes: Uint8Array, count: number, packSize: number) {
    this.bytes = bytes;
    this.count = count;
    this.names = bytes.subarray(NAMES, NAMES + 20 * count);
    this.#packSize = packSize;
    this.#hash = new NameHash(this.names, count);
  }

  find(name: Uint8Array, at: number): number {
    return this.#hash.find(name, at);
  }

  offset(position: number): number {
    const short = readUint32(this.bytes, NAMES + 24 * this.count + 4 * position);
    let offset = short;
    if (short >= 0x80000000) {
      const at = NAMES + ROW * this.count + 8 * (short - 0x80000000);
      if (at + 8 > this.bytes.length - 40) throw malformed('64-bit offset missing');
      offset = readUint32(this.bytes, at) * 2 ** 32 + readUint32(this.bytes, at + 4);
    }
    if (offset < 12 || offset >= this.#packSize - 20) throw malformed('offset outside the pack');
    return offset;
  }
}

/**
 * The ends of some entries, found in one pass over all offsets: to sort those of hundreds of thousands takes several times as long.
 * @param starts where they begin, ascending
 */
export function entryEnds(whole: WholeIndex, starts: Float64Array, packSize: number): Float64Array {
  const ends = new Float64Array(starts.length).fill(packSize - 20);
  for (let at = 0; at < whole.count; at++) {
    const offset = whole.offset(at);
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && offset < ends[low - 1]!) ends[low - 1] = offset;
  }
  return ends;
}

/** A pack's entries in the order of their offsets. */
export class SortedOffsets {
  /** Ascending; the last one is the start of the trailer. */
  readonly offsets: Float64Array;
  /** Index position of each. */
  readonly positions: Uint32Array;
  /** By index position: the entry's rank in the pack. */
  readonly ranks: Uint32Array;

  constructor(whole: WholeIndex, packSize: number) {
    const count = whole.count;
    const raw = new Float64Array(count);
    for (let i = 0; i < count; i++) raw[i] = whole.offset(i);
    this.offsets = new Float64Array(count + 1);
    this.offsets.set(raw);
    this.offsets[count] = packSize - 20;
    this.offsets.sort();
    this.positions = new Uint32Array(count);
    this.ranks = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const rank = this.rank(raw[i]!);
      this.ranks[i] = rank;
      this.positions[rank] = i;
    }
  }

  /** @returns the rank of the entry that starts at `offset`. @throws CorruptData when none does */
  rank(offset: number): number {
    const offsets = this.offsets;
    let low = 0;
    let high = offsets.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (offsets[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    if (offsets[low] !== offset || low === offsets.length - 1) {
      throw new CorruptData('delta-base', `no entry begins at ${offset}`);
    }
    return low;
  }
}

/** The number of sorted names below `bound`; with `after`, below or equal. */
function lowerBound(names: Uint8Array, bound: Uint8Array, after: boolean): number {
  let low = 0;
  let high = names.length / 20;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareNames(names, 20 * middle, bound, 0);
    if (order < 0 || (after && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function malformed(message: string): CorruptData {
  return new CorruptData('index-malformed', `index: ${message}`);
}
