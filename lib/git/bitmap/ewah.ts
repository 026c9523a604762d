import { CorruptData } from '../corrupt-data.ts';
import { readUint32 } from '../pack/object-names.ts';
import type { Bits } from './bits.ts';

/** Maximum number of literal words per marker: 31 bits. */
const MAX_LITERALS = 0x7fffffff;

/**
 * Compresses a bitmap as gitformat-bitmap describes ("Appendix A: Serialization format for an EWAH bitmap"): markers,
 * each with the length of a run of all-zero or all-one words and the number of literal words that follow; 64-bit words,
 * big-endian.
 */
export function compress(bits: Bits): Uint8Array {
  const { words } = bits;
  // Words above the last set bit are left out.
  let count = words.length / 2;
  while (count > 0 && (words[2 * count - 1]! | words[2 * count - 2]!) === 0) count--;
  const most = 8 + 8 * (2 * count + 1) + 4;
  if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(most);
  const out = scratch;
  let at = 8;
  let marker = at;
  for (let w = 0; w < count || w === 0; ) {
    marker = at;
    at += 8;
    const ones = w < count && words[2 * w] === 0xffffffff && words[2 * w + 1] === 0xffffffff;
    const fill = ones ? 0xffffffff : 0;
    const begin = w;
    while (w < count && words[2 * w] === fill && words[2 * w + 1] === fill) w++;
    const run = w - begin;
    let literals = 0;
    while (w < count && literals < MAX_LITERALS) {
      const [low, high] = [words[2 * w]!, words[2 * w + 1]!];
      if (low === high && (low === 0 || low === 0xffffffff)) break;
      out.writeUInt32BE(high, at);
      out.writeUInt32BE(low, at + 4);
      at += 8;
      literals++;
      w++;
    }
    out.writeUInt32BE((literals * 2) >>> 0, marker);
    out.writeUInt32BE((run * 2 + (ones ? 1 : 0)) >>> 0, marker + 4);
    if (count === 0) break;
  }
  out.writeUInt32BE(Math.min(bits.size, 64 * count), 0);
  out.writeUInt32BE((at - 8) / 8, 4);
  out.writeUInt32BE((marker - 8) / 8, at);
  // Thousands are kept, and each takes a fraction of that.
  return new Uint8Array(out.subarray(0, at + 4));
}

let scratch = Buffer.alloc(0);

/** The end of the compressed bitmap that starts at `at`. @throws CorruptData when it is truncated */
export function compressedEnd(bytes: Uint8Array, at: number): number {
  if (at + 12 > bytes.length) throw malformed('truncated');
  const end = at + 12 + 8 * readUint32(bytes, at + 4);
  if (end > bytes.length) throw malformed('truncated');
  return end;
}

/**
 * XORs `bits` with the compressed bitmap at `at`.
 * @returns the end of the compressed bitmap
 * @throws CorruptData when it is truncated or has more bits than `bits`
 */
export function xorCompressed(bits: Bits, bytes: Uint8Array, at: number): number {
  const end = compressedEnd(bytes, at);
  const { words } = bits;
  const room = words.length / 2;
  let w = 0;
  for (let from = at + 8; from < end - 4; ) {
    const high = readUint32(bytes, from);
    const low = readUint32(bytes, from + 4);
    from += 8;
    const run = (low >>> 1) + (high & 1) * 2 ** 31;
    const literals = high >>> 1;
    if (w + run + literals > room || from + 8 * literals > end - 4) throw malformed('too many words');
    if ((low & 1) !== 0) for (let i = 2 * w; i < 2 * (w + run); i++) words[i]! ^= 0xffffffff;
    w += run;
    for (let i = 0; i < literals; i++, w++, from += 8) {
      words[2 * w + 1]! ^= readUint32(bytes, from);
      words[2 * w]! ^= readUint32(bytes, from + 4);
    }
  }
  const tail = bits.size & 63;
  if (tail !== 0) {
    const [low, high] = [words[words.length - 2]!, words[words.length - 1]!];
    const excess = tail < 32 ? low >>> tail || high : tail === 32 ? high : high >>> (tail - 32);
    if (excess !== 0) throw malformed('a bit beyond the last object');
  }
  return end;
}

function malformed(message: string): CorruptData {
  return new CorruptData('derived-file', `compressed bitmap: ${message}`);
}
