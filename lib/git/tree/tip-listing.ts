import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { CorruptData } from '../corrupt-data.ts';
import { type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import { BLOB } from '../pack/entry.ts';
import { NameTable } from '../pack/name-table.ts';
import { readUint32 } from '../pack/object-names.ts';
import { walkTree } from '../pack/tree-walk.ts';

const MAGIC = 'TIP1';
/** Larger listings are neither written nor inflated. */
export const MAX_TIP_BYTES = 32 * 1024 * 1024;
/** Bytes of a location: pack number, offset, size. */
const LOCATION = 2 + 6 + 6;

export interface BlobLocation {
  /** The pack's id. */
  readonly pack: string;
  /** Offset of the entry in the pack. */
  readonly offset: number;
  /** Bytes, inflated. */
  readonly size: number;
}

/**
 * The trees of the default branch's tip, and the locations of its blobs. Objects are identified by their ids, so the
 * listing can be used for any commit that has them.
 *
 * File format: "TIP1", then, deflated: the number of packs, the length (1 byte) of each id, and the ids; the number of
 * trees, the id and length of each, and their bytes; the number of blobs, and for each, in the order of its first
 * occurrence in those trees, the number of its pack (2 bytes), its offset and its size (6 bytes each). Numbers are
 * big-endian and, unless stated otherwise, of 4 bytes.
 */
export class TipListing {
  /** Approximate memory. */
  readonly bytes: number;
  readonly #trees: ReadonlyMap<Oid, Uint8Array>;
  readonly #packs: readonly string[];
  readonly #locations: Buffer;
  #names: NameTable | undefined;

  /** @throws CorruptData `derived-file` */
  constructor(file: Uint8Array) {
    const data = inflated(file);
    let at = 0;
    const take = (length: number): Buffer => {
      if (at + length > data.length) throw malformed('truncated');
      at += length;
      return data.subarray(at - length, at);
    };
    const number = () => readUint32(take(4), 0);
    this.#packs = repeat(number(), data.length, () => take(take(1)[0]!).toString('latin1'));
    const heads = repeat(number(), data.length, () => ({ oid: oidFromBytes(take(20), 0), length: number() }));
    this.#trees = new Map(heads.map(({ oid, length }) => [oid, take(length)]));
    const count = number();
    if (count > data.length) throw malformed('too many blobs');
    this.#locations = take(LOCATION * count);
    if (at !== data.length) throw malformed('more bytes than its counts say');
    this.bytes = data.length + 100 * heads.length + 50 * count;
  }

  tree(oid: Oid): Uint8Array | undefined {
    return this.#trees.get(oid);
  }

  /** @throws CorruptData `derived-file` */
  blob(name: Uint8Array, at: number): BlobLocation | undefined {
    this.#names ??= namesIn(this.#trees.values());
    if (LOCATION * this.#names.count !== this.#locations.length)
      throw malformed('blobs and locations differ');
    const i = this.#names.find(name, at);
    if (i < 0) return undefined;
    const from = LOCATION * i;
    const pack = this.#packs[this.#locations.readUInt16BE(from)];
    if (pack === undefined) throw malformed('no such pack');
    const [offset, size] = [this.#locations.readUIntBE(from + 2, 6), this.#locations.readUIntBE(from + 8, 6)];
    return { pack, offset, size };
  }
}

/** @param locate returns the location of a blob */
export function encodeTip(
  trees: ReadonlyMap<Oid, Uint8Array>,
  locate: (name: Uint8Array) => BlobLocation,
): Uint8Array {
  const names = namesIn(trees.values());
  const packs: string[] = [];
  const locations = Buffer.alloc(LOCATION * names.count);
  for (let i = 0; i < names.count; i++) {
    const { pack, offset, size } = locate(names.names.subarray(20 * i, 20 * i + 20));
    const known = packs.indexOf(pack);
    locations.writeUInt16BE(known < 0 ? packs.push(pack) - 1 : known, LOCATION * i);
    locations.writeUIntBE(offset, LOCATION * i + 2, 6);
    locations.writeUIntBE(size, LOCATION * i + 8, 6);
  }
  const parts: Uint8Array[] = [uint32(packs.length)];
  for (const pack of packs) parts.push(Uint8Array.of(pack.length), Buffer.from(pack, 'latin1'));
  parts.push(uint32(trees.size));
  for (const [oid, data] of trees) parts.push(oidBytes(oid), uint32(data.length));
  parts.push(...trees.values(), uint32(names.count), locations);
  return Buffer.concat([Buffer.from(MAGIC), deflateRawSync(Buffer.concat(parts))]);
}

/** Blobs in the order of their first occurrence in the trees. @throws CorruptData */
export function namesIn(trees: Iterable<Uint8Array>): NameTable {
  const names = new NameTable();
  for (const data of trees) {
    walkTree(data, undefined, (bytes, at, kind) => {
      if (kind === BLOB) names.add(bytes, at);
    });
  }
  return names;
}

function inflated(file: Uint8Array): Buffer {
  if (Buffer.from(file.subarray(0, 4)).toString('latin1') !== MAGIC) throw malformed('wrong signature');
  try {
    return inflateRawSync(file.subarray(4), { maxOutputLength: 2 * MAX_TIP_BYTES });
  } catch (error) {
    throw malformed(String(error));
  }
}

function repeat<T>(count: number, most: number, read: () => T): T[] {
  if (count > most) throw malformed('truncated');
  return Array.from({ length: count }, read);
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function malformed(message: string): CorruptData {
  return new CorruptData('derived-file', `tip: ${message}`);
}
