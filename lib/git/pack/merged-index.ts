import { crc32 } from 'node:zlib';
import { CorruptData } from '../objects.ts';
import { BLOCK_SIZE, BlockMiss, type CachedFile } from './block-cache.ts';
import { compareNames, NameHash, readUint32 } from './object-names.ts';
import type { Pack } from './pack-cache.ts';

/** Chunks of a multi-pack-index (gitformat-pack). */
export const PACK_NAMES = 'PNAM';
export const FANOUT = 'OIDF';
export const NAMES = 'OIDL';
export const OFFSETS = 'OOFF';
export const LARGE_OFFSETS = 'LOFF';
export const ORDER = 'RIDX';
/** Ours: CRC-32 of each block of what stands before this chunk, and behind them that of these. Git passes it over. */
export const BLOCK_SUMS = 'BSUM';

const HEAD = 12;
const MOST_CHUNKS = 32;
/** Lookups after which all of it is loaded and hashed. */
const HASH_AFTER = 4096;

/** What git would call the pack's index. */
export function mergedPackName({ description: { id } }: Pick<Pack, 'description'>): string {
  return `pack-${id}.idx`;
}

interface Chunk {
  readonly at: number;
  readonly end: number;
}

/** What the head of the file says. */
interface Layout {
  readonly count: number;
  readonly packs: readonly string[];
  readonly chunks: ReadonlyMap<string, Chunk>;
  readonly sums: Chunk;
}

/**
 * One index over several packs, as `writeMergedIndex` writes it, read through the block cache: methods throw BlockMiss.
 * Each block is checked before anything of it is believed: CorruptData then, at any method.
 */
export class MergedIndex {
  readonly file: CachedFile;
  readonly #checked: Uint8Array;
  #layout: Layout | undefined;
  #lookups = 0;
  #whole: WholeMergedIndex | undefined;

  constructor(file: CachedFile) {
    this.file = file;
    this.#checked = new Uint8Array(file.blocks.length);
  }

  /** The packs' ids, by the number that {@link packOf} tells. */
  get packs(): readonly string[] {
    return this.#head().packs;
  }

  get count(): number {
    return this.#head().count;
  }

  /** The trailer, which a bitmap names. */
  checksum(): Uint8Array {
    return this.#slice(this.file.size - 20, this.file.size);
  }

  /** Adds to `wanted` what a lookup of the id needs and is not here. Before the head is read, head and end. */
  missing(name: Uint8Array, at: number, wanted: { file: CachedFile; block: number }[]): void {
    if (this.#whole) return;
    const { file } = this;
    const want = (block: number) => {
      if (block < file.blocks.length && !file.blocks[block]) wanted.push({ file, block });
    };
    if (!this.#layout) {
      want(0);
      want(file.blocks.length - 1);
    }
    if (this.#lookups >= HASH_AFTER) return;
    // 20 + 8 + 4 bytes for each object, and what else there is hardly matters: names are spread evenly.
    const count = this.#layout?.count ?? Math.floor(file.size / 32);
    const namesAt = this.#layout?.chunks.get(NAMES)?.at ?? 1024 + HEAD;
    const part = (name[at]! * 256 + name[at + 1]!) / 65536;
    const spread = 4 * Math.sqrt(count / 4) + 64;
    const low = Math.max(0, Math.floor(part * count - spread));
    const high = Math.min(count, Math.ceil(part * count + count / 65536 + spread));
    for (const [table, width] of [
      [namesAt, 20],
      [this.#layout?.chunks.get(OFFSETS)?.at ?? namesAt + 20 * count, 8],
    ] as const) {
      const last = Math.floor((table + width * high) / BLOCK_SIZE);
      for (let block = Math.floor((table + width * low) / BLOCK_SIZE); block <= last; block++) want(block);
    }
  }

  /** @returns where the id at `name[at..at+20]` stands in the sorted list, or -1. */
  find(name: Uint8Array, at: number): number {
    if (this.#whole) return this.#whole.find(name, at);
    if (++this.#lookups > HASH_AFTER) return this.whole().find(name, at);
    const { chunks } = this.#head();
    const fan = chunks.get(FANOUT)!.at;
    const first = name[at]!;
    let low = first === 0 ? 0 : this.#uint32(fan + 4 * (first - 1));
    let high = this.#uint32(fan + 4 * first);
    if (low >= high) return -1;
    const start = low;
    const table = chunks.get(NAMES)!.at;
    const names = this.#slice(table + 20 * low, table + 20 * high);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareNames(names, 20 * (middle - start), name, at);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Which of {@link packs} holds the object at this position. */
  packOf(position: number): number {
    if (this.#whole) return this.#whole.packOf(position);
    return this.#uint32(this.#head().chunks.get(OFFSETS)!.at + 8 * position);
  }

  /** Where the object at this position begins in its pack. */
  offset(position: number): number {
    const { chunks } = this.#head();
    const short = this.#uint32(chunks.get(OFFSETS)!.at + 8 * position + 4);
    const large = chunks.get(LARGE_OFFSETS);
    if (large === undefined || short < 2 ** 31) return short;
    const at = large.at + 8 * (short - 2 ** 31);
    if (at + 8 > large.end) throw malformed('64-bit offset missing');
    return this.#uint32(at) * 2 ** 32 + this.#uint32(at + 4);
  }

  /** Bytes held beside the block cache. */
  get heldBytes(): number {
    return this.#whole ? this.file.size + 14 * this.#whole.count : 0;
  }

  /** All of it in memory: for scans. */
  whole(): WholeMergedIndex {
    if (!this.#whole) {
      const { chunks, count } = this.#head();
      this.file.want(0, this.file.blocks.length - 1);
      for (let block = 0; block < this.file.blocks.length; block++) this.#check(block);
      this.#whole = new WholeMergedIndex(this.file.slice(0, this.file.size), chunks, count);
    }
    return this.#whole;
  }

  #uint32(at: number): number {
    return readUint32(this.#slice(at, at + 4), 0);
  }

  /** Checked bytes. */
  #slice(from: number, to: number): Uint8Array {
    this.#head();
    const bytes = this.file.slice(from, to);
    const last = Math.floor((to - 1) / BLOCK_SIZE);
    for (let block = Math.floor(from / BLOCK_SIZE); block <= last; block++) this.#check(block);
    return bytes;
  }

  #head(): Layout {
    return (this.#layout ??= this.#readHead());
  }

  #readHead(): Layout {
    const { file } = this;
    const wanted: { file: CachedFile; block: number }[] = [];
    for (const block of [0, file.blocks.length - 1]) if (!file.blocks[block]) wanted.push({ file, block });
    if (wanted.length > 0) throw new BlockMiss(wanted);
    const bytes = file.block(0);
    if (file.size < HEAD + 12 + 20 || readUint32(bytes, 0) !== 0x4d494458 || bytes[4] !== 1 || bytes[5] !== 1)
      throw malformed('not one of version 1');
    const chunks = readChunks(bytes, bytes[6]!, file.size);
    const sums = chunks.get(BLOCK_SUMS);
    if (sums === undefined || sums.end !== file.size - 20) throw malformed('no sums at its end');
    const blocks = Math.ceil(sums.at / BLOCK_SIZE);
    if (sums.end - sums.at !== 4 * (blocks + 1)) throw malformed('sums do not fit');
    const own = file.slice(sums.at, sums.end);
    if (crc32(own.subarray(0, own.length - 4)) !== readUint32(own, own.length - 4))
      throw malformed('wrong sum');
    this.#layout = { count: 0, packs: [], chunks, sums };
    try {
      this.#check(0);
      return this.#readTables(chunks, sums, readUint32(bytes, 8));
    } finally {
      this.#layout = undefined;
    }
  }

  /** After the first block was checked. */
  #readTables(chunks: ReadonlyMap<string, Chunk>, sums: Chunk, packCount: number): Layout {
    const length = (id: string) => {
      const chunk = chunks.get(id);
      if (chunk === undefined) throw malformed(`no ${id}`);
      return chunk.end - chunk.at;
    };
    if (length(FANOUT) !== 1024) throw malformed('fanout of a wrong size');
    if (chunks.get(FANOUT)!.end > BLOCK_SIZE || !(length(PACK_NAMES) > 0)) throw malformed('too many packs');
    const fan = this.file.slice(chunks.get(FANOUT)!.at, chunks.get(FANOUT)!.end);
    let count = 0;
    for (let byte = 0; byte < 256; byte++) {
      const next = readUint32(fan, 4 * byte);
      if (next < count) throw malformed('fanout decreases');
      count = next;
    }
    if (length(NAMES) !== 20 * count || length(OFFSETS) !== 8 * count || length(ORDER) !== 4 * count)
      throw malformed('tables do not fit its count');
    const { at, end } = chunks.get(PACK_NAMES)!;
    const names = Buffer.from(this.file.slice(at, end)).toString('latin1').split('\0');
    const packs = names.slice(0, packCount).map((name) => /^pack-(.+)\.idx$/.exec(name)?.[1] ?? '');
    if (packs.length !== packCount) throw malformed('pack names missing');
    return { count, packs, chunks, sums };
  }

  #check(block: number): void {
    if (this.#checked[block] === 1) return;
    const { sums } = this.#layout!;
    const from = block * BLOCK_SIZE;
    const bytes = this.file.block(block);
    if (from < sums.at) {
      const expected = this.file.slice(sums.at + 4 * block, sums.at + 4 * block + 4);
      if (crc32(bytes.subarray(0, sums.at - from)) !== readUint32(expected, 0)) throw malformed('wrong sum');
    }
    this.#checked[block] = 1;
  }
}

/** A merged index in memory, with a table over its names. Offsets and packs were checked with their blocks. */
export class WholeMergedIndex {
  readonly count: number;
  /** Sorted, 20 bytes each. */
  readonly names: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #offsetsAt: number;
  readonly #orderAt: number;
  readonly #hash: NameHash;

  constructor(bytes: Uint8Array, chunks: ReadonlyMap<string, Chunk>, count: number) {
    this.count = count;
    this.#bytes = bytes;
    const at = chunks.get(NAMES)!.at;
    this.names = bytes.subarray(at, at + 20 * count);
    this.#offsetsAt = chunks.get(OFFSETS)!.at;
    this.#orderAt = chunks.get(ORDER)!.at;
    this.#hash = new NameHash(this.names, count);
  }

  find(name: Uint8Array, at: number): number {
    return this.#hash.find(name, at);
  }

  packOf(position: number): number {
    return readUint32(this.#bytes, this.#offsetsAt + 8 * position);
  }

  /** By place in the order of the packs, the largest pack's objects first: the position of each object. */
  order(): Uint32Array {
    const order = new Uint32Array(this.count);
    for (let i = 0; i < order.length; i++) {
      const position = readUint32(this.#bytes, this.#orderAt + 4 * i);
      if (position >= this.count) throw malformed('order names no object');
      order[i] = position;
    }
    return order;
  }
}

function readChunks(bytes: Uint8Array, count: number, fileSize: number): Map<string, Chunk> {
  if (count > MOST_CHUNKS || HEAD + 12 * (count + 1) > bytes.length) throw malformed('too many chunks');
  const chunks = new Map<string, Chunk>();
  const at = (i: number) =>
    readUint32(bytes, HEAD + 12 * i + 4) * 2 ** 32 + readUint32(bytes, HEAD + 12 * i + 8);
  for (let i = 0; i < count; i++) {
    const id = Buffer.from(bytes.subarray(HEAD + 12 * i, HEAD + 12 * i + 4)).toString('latin1');
    const chunk = { at: at(i), end: at(i + 1) };
    if (chunk.at < HEAD || chunk.end < chunk.at || chunk.end > fileSize - 20)
      throw malformed('chunk out of place');
    chunks.set(id, chunk);
  }
  return chunks;
}

function malformed(message: string): CorruptData {
  return new CorruptData('index-malformed', `merged index: ${message}`);
}
