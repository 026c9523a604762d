import { CorruptData } from '../corrupt-data.ts';

/** The sizes that a delta declares: of its base and of its result. */
export interface DeltaSizes {
  readonly base: number;
  readonly result: number;
  /** Start of the instructions. */
  readonly at: number;
}

/** @throws CorruptData */
export function deltaSizes(delta: Uint8Array): DeltaSizes {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = delta[at++];
      if (byte === undefined || scale > 2 ** 49) throw malformed('size is truncated');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  };
  const base = varint();
  const result = varint();
  return { base, result, at };
}

/**
 * Applies a delta (gitformat-pack, "Deltified representation"). `out` must hold `sizes.result` bytes from `outAt`.
 * @throws CorruptData
 */
export function applyDelta(
  base: Uint8Array,
  delta: Uint8Array,
  sizes: DeltaSizes,
  out: Uint8Array,
  outAt = 0,
): void {
  if (base.length !== sizes.base) throw malformed('made for a base of another size');
  const length = delta.length;
  const outEnd = outAt + sizes.result;
  let at = sizes.at;
  let to = outAt;
  while (at < length) {
    const code = delta[at++]!;
    if (code & 0x80) {
      let from = 0;
      let size = 0;
      if (code & 1) from = delta[at++]!;
      if (code & 2) from |= delta[at++]! << 8;
      if (code & 4) from |= delta[at++]! << 16;
      if (code & 8) from += delta[at++]! * 0x1000000;
      if (code & 16) size = delta[at++]!;
      if (code & 32) size |= delta[at++]! << 8;
      if (code & 64) size |= delta[at++]! << 16;
      if (size === 0) size = 0x10000;
      if (at > length || from + size > base.length || to + size > outEnd)
        throw malformed('copy out of range');
      copy(base, from, size, out, to);
      to += size;
    } else if (code > 0) {
      if (at + code > length || to + code > outEnd) throw malformed('insert out of range');
      copy(delta, at, code, out, to);
      at += code;
      to += code;
    } else {
      throw malformed('reserved instruction');
    }
  }
  if (to !== outEnd) throw malformed('result has another size than declared');
}

/** The common head and tail of a delta's result and its base. */
export interface SharedEnds {
  /** Length of the common head in bytes. */
  readonly prefix: number;
  /** Start of the common tail in the result. */
  readonly tail: number;
}

/** Computes the common head and tail from the copy instructions. */
export function sharedEnds(delta: Uint8Array, sizes: DeltaSizes): SharedEnds {
  let at = sizes.at;
  let to = 0;
  let prefix = 0;
  let tail = -1;
  while (at < delta.length) {
    const code = delta[at++]!;
    if (code & 0x80) {
      let from = 0;
      let size = 0;
      if (code & 1) from = delta[at++]!;
      if (code & 2) from |= delta[at++]! << 8;
      if (code & 4) from |= delta[at++]! << 16;
      if (code & 8) from += delta[at++]! * 0x1000000;
      if (code & 16) size = delta[at++]!;
      if (code & 32) size |= delta[at++]! << 8;
      if (code & 64) size |= delta[at++]! << 16;
      if (size === 0) size = 0x10000;
      if (from === to && prefix === to) prefix = to + size;
      if (sizes.base - from !== sizes.result - to) tail = -1;
      else if (tail < 0) tail = to;
      to += size;
    } else {
      at += code;
      to += code;
      tail = -1;
    }
  }
  return { prefix, tail: tail < 0 ? sizes.result : tail };
}

// Below about 48 bytes, a loop is faster than creating a view.
function copy(source: Uint8Array, from: number, size: number, out: Uint8Array, to: number): void {
  if (size <= 48) {
    for (let i = 0; i < size; i++) out[to + i] = source[from + i]!;
  } else {
    out.set(source.subarray(from, from + size), to);
  }
}

function malformed(message: string): CorruptData {
  return new CorruptData('delta-malformed', `delta: ${message}`);
}
