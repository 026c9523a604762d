import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { CorruptData } from '../corrupt-data.ts';
import {
  EntryHeader,
  MAX_ENTRY_HEADER,
  OFS_DELTA,
  REF_DELTA,
  typeCode,
  writeDistance,
  writeEntryHeader,
} from '../pack/entry.ts';
import { EntryTable } from '../pack/entry-table.ts';
import type { ObjectList } from '../pack/object-list.ts';
import type { Pack } from '../pack/pack-cache.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { writeIndex } from '../pack/write-index.ts';
import { inTurns } from '../work.ts';

/** Append-only output of the pack. */
export interface Output {
  readonly size: number;
  append(bytes: Uint8Array, at: number): void;
}

const CHUNK = 1 << 20;
const SLICE_MS = 30;
/** git's maximum length of delta chains. Without it, merging packs could make chains longer each time. */
const MAX_DEPTH = 4095;

interface Rest {
  readonly pack: Pack;
  from: number;
  readonly to: number;
  /** CRC-32 of the bytes copied so far, and the expected one of the whole entry. */
  read: number;
  readonly expected: number;
}

/**
 * Writes one pack of listed objects, in small steps. Keeps its state across synchronous runs: a step that misses blocks
 * changes nothing and is repeated.
 */
export class Repacker {
  readonly #list: ObjectList;
  readonly #output: Output;
  readonly #sha = createHash('sha1');
  readonly #table = new EntryTable();
  /** By pack, then by rank in it: the object's number in the list, or -1. */
  readonly #listed: readonly Int32Array[];
  /** By number in the list: the start of its entry; 0 before it is written. */
  readonly #written: Float64Array;
  readonly #depths: Uint16Array;
  /** Objects to be written next, the last one first: each is the base of the one before it. */
  readonly #waiting: number[] = [];
  readonly #begun: Uint8Array;
  #pack = 0;
  #rank = 0;
  readonly #head = new EntryHeader();
  readonly #headBytes = Buffer.alloc(MAX_ENTRY_HEADER);
  #out: Buffer = Buffer.allocUnsafeSlow(CHUNK);
  #used = 0;
  /** The rest of a large entry, which is copied in pieces. */
  #rest: Rest | undefined;

  constructor(list: ObjectList, output: Output) {
    this.#list = list;
    this.#output = output;
    this.#written = new Float64Array(list.count);
    this.#depths = new Uint16Array(list.count);
    this.#begun = new Uint8Array(list.count);
    this.#listed = list.packs.map((pack) => new Int32Array(pack.index.count).fill(-1));
    for (let i = 0; i < list.count; i++) {
      const { index } = list.packs[list.packOf[i]!]!;
      this.#listed[list.packOf[i]!]![index.sortedOffsets().ranks[list.positions[i]!]!] = i;
    }
    const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    header.writeUInt32BE(list.count, 8);
    this.#put(header);
  }

  /** Works for some milliseconds. @returns whether everything is written */
  advance(objects: PackObjects): boolean {
    const until = performance.now() + SLICE_MS;
    for (let steps = 1; this.#step(objects); steps++) {
      if ((steps & 63) === 0 && performance.now() > until) return false;
    }
    return true;
  }

  /** Writes the trailer. @returns the index */
  end(): Promise<Uint8Array> {
    if (this.#table.count !== this.#list.count) {
      throw new CorruptData('pack-entry', `${this.#table.count} entries of ${this.#list.count} were written`);
    }
    this.#flush();
    this.#table.end = this.#output.size;
    const checksum = this.#sha.digest();
    this.#output.append(checksum, this.#output.size);
    return inTurns(writeIndex(this.#table, checksum));
  }

  /** One entry, or a piece of one. @returns false at the end */
  #step(objects: PackObjects): boolean {
    if (this.#rest) {
      this.#continue(this.#rest);
      return true;
    }
    const top = this.#waiting.at(-1);
    if (top !== undefined) {
      this.#entry(objects, top);
      return true;
    }
    for (; this.#pack < this.#listed.length; this.#pack++, this.#rank = 0) {
      const listed = this.#listed[this.#pack]!;
      while (this.#rank < listed.length) {
        const i = listed[this.#rank++]!;
        if (i < 0 || this.#written[i]! > 0) continue;
        this.#await(i);
        return true;
      }
    }
    return false;
  }

  #await(i: number): void {
    this.#waiting.push(i);
    this.#begun[i] = 1;
  }

  /** Writes the last waiting object, or appends its base to the waiting ones, to be written before it. */
  #entry(objects: PackObjects, i: number): void {
    const list = this.#list;
    const pack = list.packs[list.packOf[i]!]!;
    const { file, index } = pack;
    const sorted = index.sortedOffsets();
    const rank = sorted.ranks[list.positions[i]!]!;
    const [offset, end] = [sorted.offsets[rank]!, sorted.offsets[rank + 1]!];
    const head = this.#head;
    const start = file.slice(offset, Math.min(offset + MAX_ENTRY_HEADER, end));
    if (!head.read(start, 0)) throw damaged(pack, offset);
    const { type, size, dataAt } = head;
    const delta = type === OFS_DELTA || type === REF_DELTA;
    const base = delta ? this.#base(pack, offset, start) : -1;
    if (base >= 0 && this.#begun[base] === 0) {
      this.#await(base);
      return;
    }
    const depth = base < 0 ? 0 : this.#depths[base]! + 1;
    // Store the object whole if its base is not in the list, or itself waits for this object, which is possible when
    // two packs have copies of both.
    if (delta && (base < 0 || this.#written[base] === 0 || depth > MAX_DEPTH)) {
      this.#whole(objects, i, pack, offset);
      return;
    }
    const at = this.#size();
    let length = writeEntryHeader(this.#headBytes, 0, delta ? OFS_DELTA : type, size);
    if (delta) length = writeDistance(this.#headBytes, length, at - this.#written[base]!);
    const written = this.#headBytes.subarray(0, length);
    const expected = index.crc(list.positions[i]!);
    if (end - offset <= CHUNK / 2) {
      const stored = file.slice(offset, end);
      if (crc32(stored) !== expected) throw damaged(pack, offset);
      const entry = this.#begin(i, depth, delta ? OFS_DELTA : type, written, size);
      this.#append(entry, stored.subarray(dataAt));
      return;
    }
    // Read the first piece before any state changes.
    file.slice(offset + dataAt, Math.min(offset + dataAt + CHUNK / 2, end));
    const read = crc32(start.subarray(0, dataAt));
    this.#begin(i, depth, delta ? OFS_DELTA : type, written, size);
    this.#rest = { pack, from: offset + dataAt, to: end, read, expected };
  }

  /** Copies the next piece of a large entry. */
  #continue(rest: Rest): void {
    const to = Math.min(rest.to, rest.from + CHUNK / 2);
    const bytes = rest.pack.file.slice(rest.from, to);
    rest.read = crc32(bytes, rest.read);
    this.#append(this.#table.count - 1, bytes);
    rest.from = to;
    if (to < rest.to) return;
    if (rest.read !== rest.expected) throw damaged(rest.pack, to);
    this.#rest = undefined;
  }

  /** Writes an object whole, because its base is not copied. */
  #whole(objects: PackObjects, i: number, pack: Pack, offset: number): void {
    const { type, data } = objects.readAt(pack, offset);
    const deflated = deflateSync(data);
    const length = writeEntryHeader(this.#headBytes, 0, typeCode(type), data.length);
    const entry = this.#begin(i, 0, typeCode(type), this.#headBytes.subarray(0, length), data.length);
    this.#append(entry, deflated);
  }

  /** The base's number in the list, or -1. */
  #base(pack: Pack, offset: number, start: Uint8Array): number {
    const { type, baseAt, distance } = this.#head;
    if (type === REF_DELTA) return this.#list.indexOf(start, baseAt);
    const sorted = pack.index.sortedOffsets();
    const position = sorted.positions[sorted.rank(offset - distance)]!;
    return this.#list.indexOf(pack.index.nameBytes(position), 0);
  }

  #begin(i: number, depth: number, type: number, head: Uint8Array, size: number): number {
    const at = this.#size();
    const entry = this.#table.add(at, type, head.length, size);
    this.#table.names.set(this.#list.names.subarray(20 * i, 20 * i + 20), 20 * entry);
    this.#written[i] = at;
    this.#depths[i] = depth;
    this.#waiting.pop();
    this.#append(entry, head);
    return entry;
  }

  #append(entry: number, bytes: Uint8Array): void {
    this.#table.crcs[entry] = crc32(bytes, this.#table.crcs[entry]);
    this.#put(bytes);
  }

  #size(): number {
    return this.#output.size + this.#used;
  }

  #put(bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#out.length) this.#flush();
    if (bytes.length > this.#out.length) {
      this.#sha.update(bytes);
      this.#output.append(bytes, this.#output.size);
      return;
    }
    this.#out.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #flush(): void {
    const bytes = this.#out.subarray(0, this.#used);
    this.#sha.update(bytes);
    this.#output.append(bytes, this.#output.size);
    this.#used = 0;
  }
}

function damaged(pack: Pack, offset: number): CorruptData {
  return new CorruptData('pack-entry', `${pack.description.id}: entry at ${offset} is damaged`);
}
