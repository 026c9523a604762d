import { crc32 } from 'node:zlib';
import { readAhead } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { GitObject } from '../objects.ts';
import { inSlices } from '../slices.ts';
import { inTurns } from '../work.ts';
import { CHUNK_BYTES, type CopiedPacks } from './copied-packs.ts';
import { deflate } from './deflate.ts';
import {
  EntryHeader,
  MAX_ENTRY_HEADER,
  OFS_DELTA,
  REF_DELTA,
  typeCode,
  writeDistance,
  writeEntryHeader,
} from './entry.ts';
import { EntryTable } from './entry-table.ts';
import { makeDelta } from './make-delta.ts';
import type { ObjectList } from './object-list.ts';
import type { Pack } from './pack-cache.ts';
import type { PackObjects } from './pack-objects.ts';
import { type SourceEntries, sourceEntries } from './source-entries.ts';
import type { PackStore } from './store.ts';
import { writeIndex } from './write-index.ts';

export interface WritePackOptions {
  /** Allows deltas against objects that the receiver has and the pack does not (`thin-pack`). Default false. */
  readonly thin?: boolean;
  /** Writes OFS_DELTA entries (`ofs-delta`), else REF_DELTA. Default true. */
  readonly ofsDelta?: boolean;
  /** Called with the index of the pack, before its last bytes. */
  readonly onIndex?: ((index: Uint8Array) => void) | undefined;
  /** Called with the number of objects written so far. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** A chunk is returned early when it takes longer than this. */
const SLICE_MS = 30;
/** A pack of more objects is read in order, far ahead. */
export const SCAN_FROM = 2000;
/** Sizes of objects that are deltified: smaller ones are not worth it, larger ones take too long. */
const MIN_DELTIFIED_BYTES = 64;
const MAX_DELTIFIED_BYTES = 1 << 20;
/** git's default maximum length of delta chains (pack.depth). */
const MAX_DEPTH = 50;
/** Entries prefetched together after a miss. */
const READ_AHEAD = 128;

/** Writes the entries of a new pack one by one, after the packs that are copied whole. */
export class PackWriter {
  done = 0;
  readonly #list: ObjectList;
  readonly #copied: CopiedPacks;
  readonly #thin: boolean;
  readonly #ofsDelta: boolean;
  readonly #sources: (SourceEntries | undefined)[] = [];
  /** List indexes in the order of the new pack. */
  #order: Uint32Array | undefined;
  /** By list index: the offset of its entry; 0 before it is written. */
  readonly #written: Float64Array;
  /** By list index: the length of the object's delta chain. */
  readonly #depths: Uint16Array;
  /** By path: the object written last. */
  readonly #lastAt = new Map<number, number>();
  readonly #head = new EntryHeader();
  readonly #headBytes = Buffer.alloc(MAX_ENTRY_HEADER);
  #out: Buffer = Buffer.alloc(0);
  #used = 0;
  /** Bytes returned so far. */
  #given: number;
  /** By list index: CRC-32 of its entry, if there is to be an index. */
  readonly #crcs: Uint32Array | undefined;
  /** The entry that is being written, and its CRC-32 so far. */
  #current = 0;
  #crc = 0;
  /** The rest of a large entry, which is written in pieces. */
  #rest: { pack: Pack; from: number; to: number; crc: number; expected: number | undefined } | undefined;

  /** @param before what was written before: the header, and packs copied whole */
  constructor(list: ObjectList, options: WritePackOptions, before: CopiedPacks) {
    this.#list = list;
    this.#copied = before;
    this.#given = before.bytes;
    this.#thin = options.thin ?? false;
    this.#ofsDelta = options.ofsDelta ?? true;
    this.#written = new Float64Array(list.count);
    this.#depths = new Uint16Array(list.count);
    this.#crcs = options.onIndex && new Uint32Array(list.count);
  }

  /** Whether a large entry is not completely written yet. */
  get unfinished(): boolean {
    return this.#rest !== undefined;
  }

  /** The index, when everything is written. @param store that of the objects, from which packs were copied */
  async index(store: PackStore, checksum: Uint8Array): Promise<Uint8Array> {
    const { names, count, packOf, packs, positions } = this.#list;
    const table = new EntryTable();
    await inSlices(store, Number.POSITIVE_INFINITY, () => {
      const i = table.count;
      if (i === count) return true;
      const copied = this.#copied.has(packOf[i]!);
      const crc = copied ? packs[packOf[i]!]!.index.crc(positions[i]!) : this.#crcs![i]!;
      const entry = table.add(this.#writtenAt(i), 0, 0, 0);
      // Not before: the table may have grown.
      table.crcs[entry] = crc;
      return false;
    });
    table.names.set(names.subarray(0, 20 * count));
    return inTurns(writeIndex(table, checksum));
  }

  /** The next bytes; empty at the end. May throw BlockMiss and be called again. */
  chunk(objects: PackObjects): Uint8Array {
    const order = (this.#order ??= this.#plan());
    if (this.#used === 0) this.#out = Buffer.allocUnsafeSlow(CHUNK_BYTES + 4096);
    const until = performance.now() + SLICE_MS;
    while (this.#used < CHUNK_BYTES) {
      if (this.#used > 0 && (this.done & 31) === 0 && performance.now() > until) break;
      if (this.#rest) this.#continue();
      else if (this.done < order.length) {
        const next = this.done;
        readAhead(
          next,
          () => Array.from({ length: Math.min(READ_AHEAD, order.length - next) }, (_, i) => next + i),
          (at) => (at === next ? this.#entry(objects, order[at]!) : this.#touch(objects, order[at]!)),
        );
        this.done++;
      } else break;
    }
    const chunk = this.#out.subarray(0, this.#used);
    this.#given += this.#used;
    this.#used = 0;
    return chunk;
  }

  /** Orders entries pack by pack, as they are stored: OFS_DELTA bases come first, and reads are sequential. */
  #plan(): Uint32Array {
    const list = this.#list;
    const counts = new Uint32Array(list.packs.length);
    for (let i = 0; i < list.count; i++) if (list.packOf[i]! >= 0) counts[list.packOf[i]!]!++;
    // Packs copied whole need no entries.
    const sources = list.packs.map((pack, number) =>
      counts[number] === 0 || this.#copied.has(number) ? undefined : sourceEntries(pack, counts[number]!),
    );
    let loose = 0;
    for (let i = 0; i < list.count; i++) {
      const number = list.packOf[i]!;
      if (number < 0) loose++;
      else sources[number]?.add(i, list.positions[i]!);
    }
    const order = new Uint32Array(list.count - this.#copied.count);
    let at = 0;
    if (loose > 0) for (let i = 0; i < list.count; i++) if (list.packOf[i]! < 0) order[at++] = i;
    // The oldest pack first, because newer ones may have deltas against it.
    for (let number = sources.length - 1; number >= 0; number--) {
      for (const i of sources[number]?.inOrder() ?? []) order[at++] = i;
    }
    this.#sources.push(...sources);
    return order;
  }

  #entry(objects: PackObjects, i: number): undefined {
    const list = this.#list;
    const number = list.packOf[i]!;
    const position = list.positions[i]!;
    if (number < 0) return this.#object(i, list.types[i]!, new Uint8Array(0));
    const pack = list.packs[number]!;
    const source = this.#sources[number]!;
    const offset = pack.index.offset(position);
    const { file } = pack;
    const head = this.#head;
    const bytes = file.slice(offset, Math.min(offset + MAX_ENTRY_HEADER, file.size - 20));
    if (!head.read(bytes, 0)) throw new CorruptData('pack-truncated', `entry at ${offset} is cut short`);
    const { type, size } = head;
    const dataAt = offset + head.dataAt;

    const whole = type !== OFS_DELTA && type !== REF_DELTA;
    if (whole && list.paths[i] !== 0 && size <= MAX_DELTIFIED_BYTES) {
      const stored = source.end(objects, offset, dataAt, size) - offset;
      if (this.#deltify(objects, i, objects.readAt(pack, offset), stored)) return undefined;
    }
    let base = -1;
    let baseName: Uint8Array | undefined;
    if (!whole) {
      const storedName = type === REF_DELTA ? bytes.slice(head.baseAt, head.baseAt + 20) : undefined;
      base = storedName ? list.indexOf(storedName, 0) : source.listed(offset - head.distance);
      if (base < 0) {
        const receiverHas = this.#thin ? list.receiverHas : undefined;
        // The base is nowhere else.
        const sought = storedName !== undefined || receiverHas !== undefined || list.packs.length > 1;
        const name = sought ? (storedName ?? source.nameAt(objects, offset - head.distance)) : undefined;
        if (name) base = list.indexOf(name, 0);
        if (name && base < 0 && receiverHas?.(name, 0)) baseName = name;
      }
      const baseAt = base < 0 ? 0 : this.#writtenAt(base);
      const usable = base >= 0 && (baseAt > 0 || list.packOf[base] === number);
      if (!usable && !baseName) {
        const object = objects.readAt(pack, offset);
        if (this.#deltify(objects, i, object, object.data.length)) return undefined;
        return this.#object(i, typeCode(object.type), object.data);
      }
    }

    const end = source.end(objects, offset, dataAt, size);
    const written = this.#given + this.#used;
    let at = 0;
    if (whole) at = writeEntryHeader(this.#headBytes, 0, type, size);
    else if (base >= 0 && this.#ofsDelta && this.#writtenAt(base) > 0) {
      at = writeEntryHeader(this.#headBytes, 0, OFS_DELTA, size);
      at = writeDistance(this.#headBytes, at, written - this.#writtenAt(base));
    } else {
      at = writeEntryHeader(this.#headBytes, 0, REF_DELTA, size);
      const [names, from] = baseName ? [baseName, 0] : [list.names, 20 * base];
      this.#headBytes.set(names.subarray(from, from + 20), at);
      at += 20;
    }
    const expected = source.crc(position);
    if (end - offset > CHUNK_BYTES / 2) {
      const crc = crc32(bytes.subarray(0, head.dataAt));
      this.#room(at);
      this.#begin(i, base);
      this.#put(this.#headBytes.subarray(0, at));
      this.#rest = { pack, from: dataAt, to: end, crc, expected };
    } else {
      const stored = file.slice(offset, end);
      if (expected !== undefined && crc32(stored) !== expected) throw damaged(pack, offset);
      this.#room(at + stored.length);
      this.#begin(i, base);
      this.#put(this.#headBytes.subarray(0, at));
      this.#put(stored.subarray(head.dataAt));
    }
  }

  /**
   * Writes the object as a new delta against the object written last from its path, or the one the receiver has there.
   * @returns false when there is no such base, or too little in common
   */
  #deltify(objects: PackObjects, i: number, object: GitObject, maxBytes: number): boolean {
    const list = this.#list;
    const { length } = object.data;
    const path = list.paths[i]!;
    if (path === 0 || length < MIN_DELTIFIED_BYTES || length > MAX_DELTIFIED_BYTES) return false;
    let base = this.#lastAt.get(path) ?? -1;
    if (base >= 0 && this.#depths[base]! >= MAX_DEPTH) base = -1;
    const name =
      base >= 0
        ? list.names.subarray(20 * base, 20 * base + 20)
        : this.#thin
          ? list.receiverAt(path)
          : undefined;
    if (!name || !objects.locate(name, 0)) return false;
    const from = objects.readAt(objects.pack, objects.offset);
    if (
      from.type !== object.type ||
      from.data.length > MAX_DELTIFIED_BYTES ||
      from.data.length < MIN_DELTIFIED_BYTES
    )
      return false;
    const delta = makeDelta(from.data, object.data, length >> 1);
    if (!delta) return false;
    const written = this.#given + this.#used;
    const near = base >= 0 && this.#ofsDelta;
    let at = writeEntryHeader(this.#headBytes, 0, near ? OFS_DELTA : REF_DELTA, delta.length);
    if (near) at = writeDistance(this.#headBytes, at, written - this.#written[base]!);
    else {
      this.#headBytes.set(name, at);
      at += 20;
    }
    const deflated = deflate(delta);
    if (at + deflated.length >= maxBytes) return false;
    this.#room(at + deflated.length);
    this.#begin(i, base);
    this.#put(this.#headBytes.subarray(0, at));
    this.#put(deflated);
    return true;
  }

  /** The offset of the entry of object `i`; 0 before it is written. */
  #writtenAt(i: number): number {
    const number = this.#list.packOf[i]!;
    if (!this.#copied.has(number)) return this.#written[i]!;
    return this.#copied.shift(number) + this.#list.packs[number]!.index.offset(this.#list.positions[i]!);
  }

  /** To be called before the first bytes of an entry. */
  #begin(i: number, base: number): void {
    this.#written[i] = this.#given + this.#used;
    this.#current = i;
    this.#crc = 0;
    this.#depths[i] = base >= 0 ? this.#depths[base]! + 1 : 0;
    const path = this.#list.paths[i]!;
    if (path !== 0) this.#lastAt.set(path, i);
  }

  /** Prefetches what writing an entry needs first. */
  #touch(objects: PackObjects, i: number): void {
    const number = this.#list.packOf[i]!;
    if (number < 0) return;
    const pack = this.#list.packs[number]!;
    const offset = pack.index.offset(this.#list.positions[i]!);
    const start = pack.file.slice(offset, Math.min(offset + MAX_ENTRY_HEADER, pack.file.size - 20));
    // Large entries are copied in pieces.
    const small = this.#head.read(start, 0) && this.#head.size <= MAX_DELTIFIED_BYTES;
    if (small && this.#list.count <= SCAN_FROM) objects.readAt(pack, offset);
  }

  /** Writes the next piece of a large entry. */
  #continue(): void {
    const rest = this.#rest!;
    const to = Math.min(rest.to, rest.from + CHUNK_BYTES / 2);
    const bytes = rest.pack.file.slice(rest.from, to);
    this.#room(bytes.length);
    this.#put(bytes);
    rest.crc = crc32(bytes, rest.crc);
    rest.from = to;
    if (to < rest.to) return;
    if (rest.expected !== undefined && rest.crc !== rest.expected) throw damaged(rest.pack, to);
    this.#rest = undefined;
  }

  /** Writes an object whole, because its base is not in the pack. */
  #object(i: number, type: number, data: Uint8Array): undefined {
    const deflated = deflate(data);
    const head = writeEntryHeader(this.#headBytes, 0, type, data.length);
    this.#room(head + deflated.length);
    this.#begin(i, -1);
    this.#put(this.#headBytes.subarray(0, head));
    this.#put(deflated);
  }

  #room(bytes: number): void {
    if (this.#used + bytes <= this.#out.length) return;
    const larger = Buffer.allocUnsafeSlow(this.#used + bytes + 4096);
    this.#out.copy(larger, 0, 0, this.#used);
    this.#out = larger;
  }

  #put(bytes: Uint8Array): void {
    this.#out.set(bytes, this.#used);
    this.#used += bytes.length;
    if (this.#crcs) this.#crcs[this.#current] = this.#crc = crc32(bytes, this.#crc);
  }
}

function damaged(pack: Pack, offset: number): CorruptData {
  return new CorruptData('pack-entry', `${pack.description.id}: entry at ${offset} is damaged`);
}
