import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { CorruptData } from '../corrupt-data.ts';
import { deltaSizes } from './delta.ts';
import { BLOB, COMMIT, EntryHeader, MAX_ENTRY_HEADER, OFS_DELTA, REF_DELTA, TAG, typeName } from './entry.ts';
import { EntryTable } from './entry-table.ts';
import { InflateStream, inflateInto, NEED_MORE, usesHandle } from './inflate.ts';
import { HEADER_ROOM, type ObjectHasher } from './object-hasher.ts';
import type { Spool } from './spool.ts';

export interface ParserLimits {
  readonly maxBytes: number;
  readonly maxObjects: number;
  readonly maxObjectSize: number;
  readonly maxTextSize: number;
  readonly maxBlobSize: number;
  readonly wholeBlobSize: number;
  readonly maxInflatedBytes: number;
  readonly minInflated: number;
  readonly maxRatio: number;
  readonly memoryBytes: number;
}

/** A large blob being received, which is hashed without being held in memory. */
interface LargeBlob {
  readonly entry: number;
  readonly inflate: InflateStream;
  readonly sha: Hash;
}

/** The first pass over a pack: parses it while it is received, and hashes the objects that are not deltas. */
export class PackParser {
  readonly table = new EntryTable();
  /** Object count of the header; 0 before it is received. */
  total = 0;
  deltas = 0;
  checksum: Buffer = Buffer.alloc(0);

  readonly #spool: Spool;
  readonly #hasher: ObjectHasher;
  readonly #limits: ParserLimits;
  readonly #sha = createHash('sha1');
  readonly #head = new EntryHeader();
  readonly #arena: Arena;
  /** Offset up to which the pack is parsed. */
  #at = 0;
  /** The entry at #at is not tried again before this many bytes are received. */
  #retryAt = 0;
  #started = false;
  /** Bytes of all objects, those that deltas say they make included. */
  #inflated = 0;
  #scratch: Buffer = Buffer.alloc(0);
  #large: LargeBlob | undefined;

  constructor(spool: Spool, hasher: ObjectHasher, limits: ParserLimits) {
    this.#spool = spool;
    this.#hasher = hasher;
    this.#limits = limits;
    this.#arena = new Arena(limits.memoryBytes);
  }

  push(chunk: Uint8Array): void {
    if (this.#spool.size + chunk.length > this.#limits.maxBytes) {
      throw new CorruptData('limit', `pack is larger than ${this.#limits.maxBytes} bytes`);
    }
    this.#spool.append(chunk, this.#at);
    this.#parse();
  }

  /** The input has ended. */
  end(): void {
    this.#retryAt = 0;
    this.#parse();
    const rest = this.#spool.size - this.#at;
    if (!this.#started || this.table.count < this.total || this.#large || rest < 20) {
      throw new CorruptData('pack-truncated', `pack ends after ${this.table.count} of ${this.total} objects`);
    }
    this.checksum = this.#sha.digest();
    const from = this.#at - this.#spool.start;
    if (!this.checksum.equals(this.#spool.window.subarray(from, from + 20))) {
      throw new CorruptData('pack-checksum', 'pack checksum does not match its content');
    }
    const { minInflated, maxRatio } = this.#limits;
    const allowed = Math.max(minInflated, maxRatio * this.#spool.size);
    if (this.#inflated > allowed) {
      throw new CorruptData(
        'limit',
        `pack of ${this.#spool.size} bytes inflates to ${this.#inflated}; the limit is ${allowed}`,
      );
    }
    this.table.end = this.#at;
    this.#spool.parsed();
  }

  /** The inflated content of a parsed entry: an object, or a delta. Valid until the next call. */
  content(entry: number): Uint8Array {
    const kept = this.#arena.get(entry);
    if (kept) return kept;
    const { table } = this;
    const from = table.offsets[entry]!;
    const to = entry + 1 < table.count ? table.offsets[entry + 1]! : table.end;
    const size = table.sizes[entry]!;
    // A delta base is always held in memory.
    checkSize(size, this.#limits.maxObjectSize);
    const stored = this.#spool.read(from, to - from);
    const out = this.#own(size);
    const used = inflateInto(stored, table.heads[entry]!, stored.length, out, 0, size);
    if (used === NEED_MORE) throw new CorruptData('pack-truncated', 'entry changed on disk');
    return out.subarray(0, size);
  }

  #parse(): void {
    const spool = this.#spool;
    const from = this.#at;
    if (!this.#started && !this.#header()) return;
    // Entries follow one another without gaps.
    for (let more = true; more; ) {
      if (this.#large) more = this.#continue(this.#large);
      else more = this.table.count < this.total && spool.size >= this.#retryAt && this.#entry();
    }
    if (this.#at > from) this.#sha.update(spool.window.subarray(from - spool.start, this.#at - spool.start));
    const over = this.#started && this.table.count === this.total && this.#large === undefined;
    if (over && spool.size - this.#at > 20) {
      throw new CorruptData('pack-trailing', 'bytes after the end of the pack');
    }
  }

  #header(): boolean {
    const { window, length } = this.#spool;
    if (length < 12) return false;
    if (window.toString('latin1', 0, 4) !== 'PACK') throw new CorruptData('pack-header', 'not a pack');
    const version = window.readUInt32BE(4);
    if (version !== 2 && version !== 3) throw new CorruptData('pack-header', `pack version ${version}`);
    this.total = window.readUInt32BE(8);
    if (this.total > this.#limits.maxObjects) {
      throw new CorruptData(
        'limit',
        `pack has ${this.total} objects; the limit is ${this.#limits.maxObjects}`,
      );
    }
    this.#at = 12;
    this.#started = true;
    return true;
  }

  /** Parses the entry at #at. @returns false when more bytes are needed. */
  #entry(): boolean {
    const { table } = this;
    const spool = this.#spool;
    const { window } = spool;
    const head = this.#head;
    const at = this.#at - spool.start;
    const available = spool.length - at;
    if (!head.read(window, at, spool.length)) {
      if (available >= MAX_ENTRY_HEADER)
        throw new CorruptData('pack-entry', `entry at ${this.#at} has a malformed header`);
      return false;
    }
    const { type, size, dataAt } = head;
    const { wholeBlobSize, maxBlobSize, maxObjectSize } = this.#limits;
    const streamed = type === BLOB && size > (usesHandle ? wholeBlobSize : maxObjectSize);
    checkSize(size, streamed ? maxBlobSize : maxObjectSize);
    if (streamed) {
      this.#begin(size, dataAt - at);
      return true;
    }
    const delta = type === OFS_DELTA || type === REF_DELTA;
    const out = delta ? this.#own(size) : this.#hasher.buffer(size);
    const used = inflateInto(window, dataAt, spool.length, out, delta ? 0 : HEADER_ROOM, size);
    if (used === NEED_MORE) {
      this.#retryAt = spool.size + available;
      return false;
    }
    // Bytes that are no entry are told as such before the size that they seem to say.
    if (type === COMMIT || type === TAG) checkSize(size, this.#limits.maxTextSize, '', typeName(type));
    const offset = this.#at;
    const length = dataAt - at + used;
    const entry = table.add(offset, type, dataAt - at, size);
    table.crcs[entry] = crc32(window.subarray(at, at + length));
    if (delta) {
      this.deltas++;
      this.#delta(entry, offset, out.subarray(0, size));
    } else {
      this.#count(size);
      this.#hasher.name(table, entry, type, out, size);
    }
    this.#at += length;
    return true;
  }

  /** Starts a blob too large for memory: its content is hashed while it is received. */
  #begin(size: number, headLength: number): void {
    const { table } = this;
    this.#count(size);
    const at = this.#at - this.#spool.start;
    const entry = table.add(this.#at, BLOB, headLength, size);
    table.crcs[entry] = crc32(this.#spool.window.subarray(at, at + headLength));
    const sha = createHash('sha1').update(`blob ${size}\0`);
    this.#large = { entry, inflate: new InflateStream(size), sha };
    this.#at += headLength;
  }

  /** Hashes the received part of a large blob. @returns false when more bytes are needed */
  #continue({ entry, inflate, sha }: LargeBlob): boolean {
    const { table } = this;
    const { window, length, start } = this.#spool;
    const from = this.#at - start;
    const used = inflate.push(window, from, length, (bytes) => sha.update(bytes));
    table.crcs[entry] = crc32(window.subarray(from, from + used), table.crcs[entry]);
    this.#at += used;
    if (!inflate.ended) return false;
    inflate.close();
    table.names.set(sha.digest(), 20 * entry);
    table.types[entry] = BLOB;
    this.#large = undefined;
    return true;
  }

  #delta(entry: number, offset: number, content: Uint8Array): void {
    const { table } = this;
    const head = this.#head;
    if (head.type === OFS_DELTA) {
      const base = table.at(offset - head.distance);
      if (base < 0 || base === entry)
        throw new CorruptData('delta-base', `no base for the delta at ${offset}`);
      table.bases[entry] = base;
    } else {
      table.bases[entry] = table.addBaseName(this.#spool.window, head.baseAt);
    }
    const { result } = deltaSizes(content);
    checkSize(result, this.#limits.maxObjectSize, ' for a delta, and more for what comes whole');
    this.#count(result);
    this.#arena.put(entry, content);
  }

  #count(size: number): void {
    this.#inflated += size;
    if (this.#inflated > this.#limits.maxInflatedBytes) {
      throw new CorruptData('limit', `pack inflates to more than ${this.#limits.maxInflatedBytes} bytes`);
    }
  }

  #own(size: number): Buffer {
    if (this.#scratch.length <= size || (this.#scratch.length > 1 << 22 && size < 1 << 20)) {
      this.#scratch = Buffer.allocUnsafeSlow(Math.max(1 << 16, size + 1));
    }
    return this.#scratch;
  }
}

/** Inflated deltas kept from the first pass for the second, as many as fit. */
class Arena {
  readonly #limit: number;
  #slabs: Buffer[] = [];
  #used = SLAB;
  /** By entry: the start of its bytes plus one, and their number. */
  #starts = new Uint32Array(0);
  #lengths = new Uint32Array(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  put(entry: number, bytes: Uint8Array): void {
    if (bytes.length > SLAB / 8) return;
    if (this.#used + bytes.length > SLAB) {
      if ((this.#slabs.length + 1) * SLAB > this.#limit) return;
      this.#slabs.push(Buffer.allocUnsafeSlow(SLAB));
      this.#used = 0;
    }
    if (entry >= this.#starts.length) {
      const length = Math.max(1024, 2 * entry);
      const starts = new Uint32Array(length);
      starts.set(this.#starts);
      this.#starts = starts;
      const lengths = new Uint32Array(length);
      lengths.set(this.#lengths);
      this.#lengths = lengths;
    }
    this.#slabs[this.#slabs.length - 1]!.set(bytes, this.#used);
    this.#starts[entry] = (this.#slabs.length - 1) * SLAB + this.#used + 1;
    this.#lengths[entry] = bytes.length;
    this.#used += bytes.length;
  }

  get(entry: number): Uint8Array | undefined {
    const start = (this.#starts[entry] ?? 0) - 1;
    if (start < 0) return undefined;
    const at = start % SLAB;
    return this.#slabs[Math.floor(start / SLAB)]!.subarray(at, at + this.#lengths[entry]!);
  }
}

const SLAB = 1 << 20;

function checkSize(size: number, limit: number, remark = '', what = 'object'): void {
  if (size > limit)
    throw new CorruptData('object-too-large', `${what} of ${size} bytes; the limit is ${limit}${remark}`);
}
