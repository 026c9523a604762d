import { CorruptData } from '../objects.ts';

/** The sizes a delta declares: of its base, and of what it makes. */
export interface DeltaSizes {
  readonly base: number;
  readonly result: number;
  /** Where the instructions begin. */
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
      if (byte === undefined || scale > 2 ** 49) throw malformed('size cut short');
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

/** What a delta's result has in common with its base at both ends. */
export interface SharedEnds {
  /** So many bytes from the start are the base's first. */
  readonly prefix: number;
  /** From here to the end the bytes are the base's last. */
  readonly tail: number;
}

/** As the instructions show it. */
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

// Below about 48 bytes a loop beats the making of a view.
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
