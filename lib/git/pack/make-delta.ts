const BLOCK = 16;
/** Blocks tried per hash: bounds the work on repetitive content. */
const MAX_TRIES = 8;
const MAX_COPY = 0xffffff;
const FACTOR = 0x01000193;
/** FACTOR to the BLOCK - 1, modulo 2^32: removes the oldest byte from the rolling hash. */
const OLDEST_BYTE_FACTOR = Array.from({ length: BLOCK - 1 }).reduce<number>(
  (power) => Math.imul(power, FACTOR),
  1,
);

/**
 * Creates a delta from `base` to `target` (gitformat-pack, "Deltified representation"): finds blocks of the base with a
 * rolling hash, as rsync and xdelta do.
 *
 * @returns undefined when the delta would be larger than `limit` bytes
 */
export function makeDelta(base: Uint8Array, target: Uint8Array, limit: number): Uint8Array | undefined {
  const out = new DeltaWriter(limit);
  out.size(base.length);
  out.size(target.length);
  const blocks = new BaseBlocks(base);
  let literal = 0;
  let at = 0;
  // Most changes leave the start unchanged.
  while (at < target.length && at < base.length && target[at] === base[at]) at++;
  if (at >= BLOCK) {
    out.copy(0, at);
    literal = at;
  } else {
    at = 0;
  }
  let hash = at + BLOCK <= target.length ? hashBlock(target, at) : 0;
  while (at + BLOCK <= target.length && !out.full) {
    let from = -1;
    let length = 0;
    let tries = 0;
    for (let i = blocks.first(hash); i >= 0 && tries < MAX_TRIES; i = blocks.next(i), tries++) {
      const start = i * BLOCK;
      let run = 0;
      while (at + run < target.length && start + run < base.length && target[at + run] === base[start + run])
        run++;
      if (run > length) {
        from = start;
        length = run;
      }
    }
    if (length >= BLOCK) {
      while (at > literal && from > 0 && target[at - 1] === base[from - 1]) {
        at--;
        from--;
        length++;
      }
      out.insert(target, literal, at);
      out.copy(from, length);
      at += length;
      literal = at;
      if (at + BLOCK <= target.length) hash = hashBlock(target, at);
    } else {
      hash =
        (Math.imul(hash - Math.imul(target[at]!, OLDEST_BYTE_FACTOR), FACTOR) + (target[at + BLOCK] ?? 0)) |
        0;
      at++;
    }
  }
  out.insert(target, literal, target.length);
  const delta = out.bytes();
  return out.full || delta.length > limit ? undefined : delta;
}

function hashBlock(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let i = at; i < at + BLOCK; i++) hash = (Math.imul(hash, FACTOR) + bytes[i]!) | 0;
  return hash;
}

/** The base's blocks by hash. */
class BaseBlocks {
  readonly #heads: Int32Array;
  readonly #next: Int32Array;
  readonly #shift: number;

  constructor(base: Uint8Array) {
    const count = Math.floor(base.length / BLOCK);
    const bits = Math.max(4, Math.ceil(Math.log2(count + 1)) + 1);
    this.#shift = 32 - bits;
    this.#heads = new Int32Array(2 ** bits).fill(-1);
    this.#next = new Int32Array(count);
    for (let i = count - 1; i >= 0; i--) {
      const slot = this.#slot(hashBlock(base, i * BLOCK));
      this.#next[i] = this.#heads[slot]!;
      this.#heads[slot] = i;
    }
  }

  first(hash: number): number {
    return this.#heads[this.#slot(hash)]!;
  }

  next(block: number): number {
    return this.#next[block]!;
  }

  #slot(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.#shift;
  }
}

class DeltaWriter {
  full = false;
  readonly #out: Buffer;
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#out = Buffer.allocUnsafe(limit + 256);
  }

  size(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.#out[this.#used++] = (rest & 127) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#out[this.#used++] = rest;
  }

  copy(from: number, length: number): void {
    for (let done = 0; done < length && !this.full; done += MAX_COPY) {
      const [offset, size] = [from + done, Math.min(MAX_COPY, length - done)];
      const at = this.#used++;
      let code = 0x80;
      for (let i = 0; i < 4; i++) code |= this.#byte(offset, i, 1 << i);
      // A size of 0x10000 is encoded without size bytes.
      for (let i = 0; size !== 0x10000 && i < 3; i++) code |= this.#byte(size, i, 0x10 << i);
      this.#out[at] = code;
      this.#check();
    }
  }

  insert(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && !this.full; at += 127) {
      const size = Math.min(127, to - at);
      this.#out[this.#used++] = size;
      this.#out.set(bytes.subarray(at, at + size), this.#used);
      this.#used += size;
      this.#check();
    }
  }

  bytes(): Uint8Array {
    return this.#out.subarray(0, this.#used);
  }

  #byte(value: number, index: number, flag: number): number {
    const byte = (value >>> (8 * index)) & 0xff;
    if (byte === 0) return 0;
    this.#out[this.#used++] = byte;
    return flag;
  }

  #check(): void {
    if (this.#used > this.#limit) this.full = true;
  }
}
