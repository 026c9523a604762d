import { CorruptData } from '../corrupt-data.ts';
import { BLOCK_SIZE, type CachedFile } from './block-cache.ts';
import { compareNames, NameHash, readUint32 } from './object-names.ts';
import type { Pack } from './pack-cache.ts';

/** Chunks of a multi-pack-index (gitformat-pack). */
export const PACK_NAMES = 'PNAM';
export const FANOUT = 'OIDF';
export const NAMES = 'OIDL';
export const OFFSETS = 'OOFF';
export const LARGE_OFFSETS = 'LOFF';
export const ORDER = 'RIDX';

/** Bytes before the chunk table. */
export const HEADER_SIZE = 12;
const MAX_CHUNKS = 32;

/** The name of the pack's index in git's terms, without extension. */
export function mergedPackName({ description: { id } }: Pick<Pack, 'description'>): string {
  return `pack-${id}.idx`;
}

interface Chunk {
  readonly at: number;
  readonly end: number;
}

/**
 * One index over several packs, as `writeMergedIndex` writes it, read through the block cache: methods and constructor
 * throw BlockMiss. Keeps only its header in memory.
 * @throws CorruptData `derived-file`
 */
export class MergedIndex {
  readonly count: number;
  /** The packs' ids, by the number that {@link packOf} returns. */
  readonly packs: readonly string[];
  readonly #file: CachedFile;
  readonly #chunks: ReadonlyMap<string, Chunk>;
  readonly #fanout: Uint8Array;

  constructor(file: CachedFile) {
    this.#file = file;
    const head = file.block(0);
    if (
      file.size < HEADER_SIZE + 12 + 20 ||
      readUint32(head, 0) !== 0x4d494458 ||
      head[4] !== 1 ||
      head[5] !== 1
    )
      throw malformed('not one of version 1');
    this.#chunks = readChunks(head, head[6]!, file.size);
    const fanout = this.#chunk(FANOUT, 1024);
    this.#fanout = file.slice(fanout.at, fanout.end).slice();
    let count = 0;
    for (let byte = 0; byte < 256; byte++) {
      const next = readUint32(this.#fanout, 4 * byte);
      if (next < count) throw malformed('fanout decreases');
      count = next;
    }
    this.count = count;
    for (const [id, width] of [[NAMES, 20] as const, [OFFSETS, 8] as const, [ORDER, 4] as const]) {
      this.#chunk(id, width * count);
    }
    this.packs = this.#packNames(readUint32(head, 8));
  }

  /** The trailer, which bitmaps refer to. */
  checksum(): Uint8Array {
    return this.#file.slice(this.#file.size - 20, this.#file.size);
  }

  /** @returns the position of the id at `name[at..at+20]` in the sorted list, or -1 */
  find(name: Uint8Array, at: number): number {
    const first = name[at]!;
    let low = first === 0 ? 0 : readUint32(this.#fanout, 4 * (first - 1));
    let high = readUint32(this.#fanout, 4 * first);
    if (low >= high) return -1;
    const start = low;
    const table = this.#chunks.get(NAMES)!.at;
    const names = this.#file.slice(table + 20 * low, table + 20 * high);
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
    return this.#checkedPack(this.#uint32(this.#chunks.get(OFFSETS)!.at + 8 * position));
  }

  /** The offset in its pack of the object at this position. */
  offset(position: number): number {
    return this.#far(this.#uint32(this.#chunks.get(OFFSETS)!.at + 8 * position + 4));
  }

  /** Loads the whole index into memory. */
  whole(): WholeMergedIndex {
    const bytes = this.#file.slice(0, this.#file.size);
    const part = (id: string) => bytes.subarray(this.#chunks.get(id)!.at, this.#chunks.get(id)!.end);
    const offsets = part(OFFSETS);
    const [packOf, places] = [new Uint16Array(this.count), new Float64Array(this.count)];
    for (let i = 0; i < this.count; i++) {
      packOf[i] = this.#checkedPack(readUint32(offsets, 8 * i));
      places[i] = this.#far(readUint32(offsets, 8 * i + 4));
    }
    const order = new Uint32Array(this.count);
    const ranks = new Uint32Array(this.count).fill(0xffffffff);
    const orderBytes = part(ORDER);
    for (let i = 0; i < this.count; i++) {
      const position = readUint32(orderBytes, 4 * i);
      if (position >= this.count || ranks[position] !== 0xffffffff)
        throw malformed('order is not a permutation');
      order[i] = position;
      ranks[position] = i;
    }
    return new WholeMergedIndex(this.packs, part(NAMES), packOf, places, order, ranks);
  }

  #far(short: number): number {
    const large = this.#chunks.get(LARGE_OFFSETS);
    if (large === undefined || short < 2 ** 31) return short;
    const at = large.at + 8 * (short - 2 ** 31);
    if (at + 8 > large.end) throw malformed('64-bit offset missing');
    return this.#uint32(at) * 2 ** 32 + this.#uint32(at + 4);
  }

  #checkedPack(number: number): number {
    if (number >= this.packs.length) throw malformed('no such pack');
    return number;
  }

  #uint32(at: number): number {
    return readUint32(this.#file.slice(at, at + 4), 0);
  }

  #chunk(id: string, length: number): Chunk {
    const chunk = this.#chunks.get(id);
    if (chunk?.end !== (chunk?.at ?? 0) + length) throw malformed(`${id} missing or of a wrong size`);
    return chunk;
  }

  #packNames(count: number): string[] {
    const chunk = this.#chunks.get(PACK_NAMES);
    if (chunk === undefined || count > 65_535) throw malformed('no pack names');
    const names = Buffer.from(this.#file.slice(chunk.at, chunk.end)).toString('latin1').split('\0');
    const packs = names.slice(0, count).map((name) => /^pack-(.+)\.idx$/.exec(name)?.[1] ?? '');
    if (packs.length !== count || packs.includes('')) throw malformed('pack names missing');
    return packs;
  }
}

/** Blocks that a lookup in a merged index most likely reads, estimated without reading any of it. */
export function likelyBlocks(file: CachedFile, name: Uint8Array, at: number): number[] {
  // 20 + 8 + 4 bytes per object; the rest hardly matters. Names are evenly distributed.
  const count = Math.floor(file.size / 32);
  const part = (name[at]! * 256 + name[at + 1]!) / 65536;
  const spread = 4 * Math.sqrt(count / 4) + 64;
  const low = Math.max(0, Math.floor(part * count - spread));
  const high = Math.min(count, Math.ceil(part * count + count / 65536 + spread));
  const blocks = new Set([0]);
  for (const [table, width] of [
    [1024, 20],
    [1024 + 20 * count, 8],
  ] as const) {
    const last = Math.min(file.blocks.length - 1, Math.floor((table + width * high) / BLOCK_SIZE));
    for (let block = Math.floor((table + width * low) / BLOCK_SIZE); block <= last; block++)
      blocks.add(block);
  }
  return [...blocks];
}

/** A merged index in memory: about 50 bytes for each object, 8 more once names are looked up. */
export class WholeMergedIndex {
  readonly count: number;
  readonly packs: readonly string[];
  /** Sorted, 20 bytes each. */
  readonly names: Uint8Array;
  readonly packOf: Uint16Array;
  readonly offsets: Float64Array;
  /** The objects' positions in pseudo-pack order: by pack and offset, the preferred pack first. */
  readonly order: Uint32Array;
  /** By position: the object's rank in that order. */
  readonly ranks: Uint32Array;
  #hash: NameHash | undefined;

  constructor(
    packs: readonly string[],
    names: Uint8Array,
    packOf: Uint16Array,
    offsets: Float64Array,
    order: Uint32Array,
    ranks: Uint32Array,
  ) {
    this.packs = packs;
    this.count = packOf.length;
    this.names = names;
    this.packOf = packOf;
    this.offsets = offsets;
    this.order = order;
    this.ranks = ranks;
  }

  /** @returns the position of the id at `name[at..at+20]`, or -1. */
  find(name: Uint8Array, at: number): number {
    this.#hash ??= new NameHash(this.names, this.count);
    return this.#hash.find(name, at);
  }
}

function readChunks(bytes: Uint8Array, count: number, fileSize: number): Map<string, Chunk> {
  if (count > MAX_CHUNKS || HEADER_SIZE + 12 * (count + 1) > bytes.length) throw malformed('too many chunks');
  const chunks = new Map<string, Chunk>();
  const at = (i: number) =>
    readUint32(bytes, HEADER_SIZE + 12 * i + 4) * 2 ** 32 + readUint32(bytes, HEADER_SIZE + 12 * i + 8);
  for (let i = 0; i < count; i++) {
    const id = Buffer.from(bytes.subarray(HEADER_SIZE + 12 * i, HEADER_SIZE + 12 * i + 4)).toString('latin1');
    const chunk = { at: at(i), end: at(i + 1) };
    if (chunk.at < HEADER_SIZE || chunk.end < chunk.at || chunk.end > fileSize - 20)
      throw malformed('chunk out of place');
    chunks.set(id, chunk);
  }
  return chunks;
}

function malformed(message: string): CorruptData {
  return new CorruptData('derived-file', `merged index: ${message}`);
}
