import { randomBytes } from 'node:crypto';

/** An open-addressed table over the sorted names of an index file, 20 bytes each. */
export class NameHash {
  readonly #names: Uint8Array;
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(names: Uint8Array, count: number) {
    this.#names = names;
    let size = 16;
    while (size < 2 * count) size *= 2;
    this.#mask = size - 1;
    const slots = new Int32Array(size);
    for (let i = 0; i < count; i++) {
      let slot = hashName(names, 20 * i) & this.#mask;
      while (slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      slots[slot] = i + 1;
    }
    this.#slots = slots;
  }

  /** @returns the number of the name at `name[at..at+20]`, or -1. */
  find(name: Uint8Array, at: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = hashName(name, at) & mask;
    for (;;) {
      const position = slots[slot]! - 1;
      if (position < 0 || sameName(this.#names, 20 * position, name, at)) return position;
      slot = (slot + 1) & mask;
    }
  }
}

// Which bytes of a name are hashed is random per process, because clients can influence object names.
const seed = randomBytes(5);
const WINDOW = seed[0]! % 17;
const FACTOR = (seed.readUInt32LE(1) | 1) >>> 0;

/** A 32-bit hash of the 20 bytes at `at`. */
export function hashName(name: Uint8Array, at: number): number {
  const i = at + WINDOW;
  const word = name[i]! | (name[i + 1]! << 8) | (name[i + 2]! << 16) | (name[i + 3]! << 24);
  const mixed = Math.imul(word, FACTOR);
  return mixed ^ (mixed >>> 15);
}

export function sameName(a: Uint8Array, i: number, b: Uint8Array, j: number): boolean {
  for (let k = 0; k < 20; k++) if (a[i + k] !== b[j + k]) return false;
  return true;
}

export function compareNames(a: Uint8Array, i: number, b: Uint8Array, j: number): number {
  for (let k = 0; k < 20; k++) {
    const order = a[i + k]! - b[j + k]!;
    if (order !== 0) return order;
  }
  return 0;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
