import { CorruptData } from '../corrupt-data.ts';
import type { Steps } from '../work.ts';

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
  const progress = begun(base, sizes, outAt);
  const end = outAt + sizes.result;
  applyPart(base, delta, progress, out, end, delta.length, end);
  if (progress.to !== end) throw malformed('result has another size than declared');
}

/** Whether applying a delta takes a noticeable part of a turn of the event loop. */
export const isLargeDelta = (delta: Uint8Array, { result }: DeltaSizes): boolean =>
  delta.length + result > LARGE_DELTA;

const LARGE_DELTA = 2 * 2 ** 20;
/** Bytes of a delta between two stops, and of its result: about a millisecond. */
const DELTA_STEP = 64 * 1024;
const RESULT_STEP = 2 ** 20;

/** As {@link applyDelta}, with stops. */
export function* applyDeltaInSteps(
  base: Uint8Array,
  delta: Uint8Array,
  sizes: DeltaSizes,
  out: Uint8Array,
  outAt = 0,
): Steps<void> {
  const progress = begun(base, sizes, outAt);
  const end = outAt + sizes.result;
  while (progress.at < delta.length) {
    yield;
    const { at, to } = progress;
    applyPart(base, delta, progress, out, end, at + DELTA_STEP, to + RESULT_STEP);
  }
  if (progress.to !== end) throw malformed('result has another size than declared');
}

/** Where the next instruction is, and where its result goes. */
interface Progress {
  at: number;
  to: number;
}

function begun(base: Uint8Array, sizes: DeltaSizes, to: number): Progress {
  if (base.length !== sizes.base) throw malformed('made for a base of another size');
  return { at: sizes.at, to };
}

/** Applies instructions until `untilAt` of the delta, or until after `untilTo` of the result. */
function applyPart(
  base: Uint8Array,
  delta: Uint8Array,
  progress: Progress,
  out: Uint8Array,
  outEnd: number,
  untilAt: number,
  untilTo: number,
): void {
  const { length } = delta;
  const end = Math.min(length, untilAt);
  let { at, to } = progress;
  while (at < end && to <= untilTo) {
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
  progress.at = at;
  progress.to = to;
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
