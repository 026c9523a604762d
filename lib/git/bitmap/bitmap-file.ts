import { hash } from 'node:crypto';
import { CorruptData } from '../corrupt-data.ts';
import { readUint32 } from '../pack/object-names.ts';
import { Bits } from './bits.ts';
import { compress, compressedEnd, xorCompressed } from './ewah.ts';

const HEADER_SIZE = 32;
/** Every object that a closure contains has a bit; git reads no other bitmaps. */
const FULL_DAG = 1;
/** A closure may be stored as XOR with the previous one; the longest such chain. */
const MAX_XOR_DEPTH = 24;

/** Which objects are commits, trees, blobs and tags. */
export interface TypeBits {
  readonly commits: Bits;
  readonly trees: Bits;
  readonly blobs: Bits;
  readonly tags: Bits;
}

const TYPES = ['commits', 'trees', 'blobs', 'tags'] as const;

/** The closures of some commits (everything they reach), compressed, in the order they were added. */
export class Closures {
  /** By the commit's position in the merged index. */
  readonly #numbers = new Map<number, number>();
  readonly #positions: number[] = [];
  readonly #size: number;
  /** For each: its compressed bits, and how many entries before it the one to XOR with is; 0 for none. */
  readonly #stored: { readonly bytes: Uint8Array; readonly at: number; readonly xorOffset: number }[] = [];
  #last: Bits | undefined;
  #xorDepth = 0;

  /** @param size objects in the merged index */
  constructor(size: number) {
    this.#size = size;
  }

  get count(): number {
    return this.#stored.length;
  }

  has(position: number): boolean {
    return this.#numbers.has(position);
  }

  positions(): readonly number[] {
    return this.#positions;
  }

  /** The closure of the commit at this position: object `i` of the merged index's order is the bit `i`. */
  get(position: number): Bits | undefined {
    const number = this.#numbers.get(position);
    if (number === undefined) return undefined;
    const bits = new Bits(this.#size);
    // XOR is commutative, so the order does not matter.
    for (let n = number, steps = 0; ; steps++) {
      const { bytes, at, xorOffset } = this.#stored[n]!;
      xorCompressed(bits, bytes, at);
      if (xorOffset === 0) return bits;
      if (steps > 256) throw malformed('an XOR chain does not end');
      n -= xorOffset;
    }
  }

  add(position: number, closure: Bits): void {
    const whole = compress(closure);
    const last = this.#xorDepth < MAX_XOR_DEPTH ? this.#last : undefined;
    const change = last === undefined ? whole : compress(closure.xor(last));
    const smaller = change.length < whole.length;
    this.#xorDepth = smaller ? this.#xorDepth + 1 : 0;
    this.#last = closure.copy();
    this.#enter(position, smaller ? change : whole, 0, smaller ? 1 : 0);
  }

  /** Adds a closure that is compressed already. @param xorOffset how many entries before it the one to XOR with is; 0 for none */
  addChange(position: number, compressed: Uint8Array, xorOffset: number): void {
    this.#enter(position, compressed, 0, xorOffset);
  }

  *entries(): Generator<{ position: number; xorOffset: number; bytes: Uint8Array }> {
    for (const [number, { bytes, at, xorOffset }] of this.#stored.entries()) {
      yield {
        position: this.#positions[number]!,
        xorOffset,
        bytes: bytes.subarray(at, compressedEnd(bytes, at)),
      };
    }
  }

  /** @throws CorruptData */
  static read(bytes: Uint8Array, at: number, count: number, size: number): Closures {
    const closures = new Closures(size);
    for (let number = 0; number < count; number++) {
      if (at + 6 > bytes.length) throw malformed('truncated');
      const position = readUint32(bytes, at);
      const xorOffset = bytes[at + 4]!;
      if (position >= size || xorOffset > number || closures.has(position)) throw malformed('no such commit');
      closures.#enter(position, bytes, at + 6, xorOffset);
      at = compressedEnd(bytes, at + 6);
    }
    if (at !== bytes.length) throw malformed('more bytes than its count says');
    return closures;
  }

  #enter(position: number, bytes: Uint8Array, at: number, xorOffset: number): void {
    this.#numbers.set(position, this.#stored.length);
    this.#positions.push(position);
    this.#stored.push({ bytes, at, xorOffset });
  }
}

export interface Bitmap {
  readonly types: TypeBits;
  readonly closures: Closures;
}

/** A reachability bitmap over a merged index (gitformat-bitmap, version 1). @param checksum the index's trailer */
export function writeBitmap({ types, closures }: Bitmap, checksum: Uint8Array): Uint8Array {
  const head = Buffer.alloc(HEADER_SIZE);
  head.write('BITM', 0, 'latin1');
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(FULL_DAG, 6);
  head.writeUInt32BE(closures.count, 8);
  head.set(checksum, 12);
  const parts: Uint8Array[] = [head, ...TYPES.map((type) => compress(types[type]))];
  for (const { position, xorOffset, bytes } of closures.entries()) {
    const entry = Buffer.alloc(6);
    entry.writeUInt32BE(position, 0);
    entry[4] = xorOffset;
    parts.push(entry, bytes);
  }
  const body = Buffer.concat(parts);
  return Buffer.concat([body, hash('sha1', body, 'buffer')]);
}

/**
 * @param size objects in the merged index
 * @param checksum the index's trailer
 * @throws CorruptData `derived-file`, also when it was made for another index
 */
export function readBitmap(bytes: Uint8Array, size: number, checksum: Uint8Array): Bitmap {
  if (
    bytes.length < HEADER_SIZE + 20 ||
    readUint32(bytes, 0) !== 0x4249544d ||
    readUint32(bytes, 4) !== 0x10001
  )
    throw malformed('not one of version 1');
  const end = bytes.length - 20;
  const body = bytes.subarray(0, end);
  if (!hash('sha1', body, 'buffer').equals(bytes.subarray(end))) throw malformed('wrong checksum');
  if (Buffer.compare(body.subarray(12, HEADER_SIZE), checksum) !== 0)
    throw malformed('made for another index');
  let at = HEADER_SIZE;
  const [commits, trees, blobs, tags] = TYPES.map(() => {
    const bits = new Bits(size);
    at = xorCompressed(bits, body, at);
    return bits;
  }) as [Bits, Bits, Bits, Bits];
  const closures = Closures.read(body, at, readUint32(bytes, 8), size);
  return { types: { commits, trees, blobs, tags }, closures };
}

function malformed(message: string): CorruptData {
  return new CorruptData('derived-file', `bitmap: ${message}`);
}
