import { asBuffer } from '../tree/entry.ts';

/** The lines of two files as small numbers: equal lines, terminator included, have the same number. */
export interface LineTable {
  /** Number of each line of the old file. */
  readonly old: Int32Array;
  readonly new: Int32Array;
  /** Per number: how often it occurs in the old file. */
  readonly oldCount: Int32Array;
  readonly newCount: Int32Array;
}

/** Where each line begins, and the end of the last: `starts.length - 1` lines. */
export function lineStarts(data: Uint8Array): Int32Array {
  const starts = new Int32Array(countLines(data) + 1);
  let line = 1;
  for (let i = 0; i < data.length - 1; i++) if (data[i] === 0x0a) starts[line++] = i + 1;
  starts[starts.length - 1] = data.length;
  return starts;
}

/** Lines as git counts them: a last line without its terminator is one too. */
export function countLines(data: Uint8Array): number {
  let lines = data.length > 0 && data[data.length - 1] !== 0x0a ? 1 : 0;
  for (let i = 0; i < data.length; i++) if (data[i] === 0x0a) lines++;
  return lines;
}

/** Numbers the lines of both files, by content. Linear in the bytes. */
export function numberLines(
  oldData: Uint8Array,
  oldStarts: Int32Array,
  newData: Uint8Array,
  newStarts: Int32Array,
): LineTable {
  const lines = oldStarts.length + newStarts.length - 2;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(lines + 1) + 1)).fill(-1);
  // Per number: the hash of its first line, which file that stands in, and where.
  const hashes = new Int32Array(lines);
  const firstStart = new Int32Array(lines);
  const firstLength = new Int32Array(lines);
  const counts = [new Int32Array(lines), new Int32Array(lines)] as const;
  const sources = [asBuffer(oldData), asBuffer(newData)] as const;
  let numbers = 0;
  let oldNumbers = 0;

  const number = (side: 0 | 1, starts: Int32Array): Int32Array => {
    const data = sources[side];
    const result = new Int32Array(starts.length - 1);
    for (let line = 0; line < result.length; line++) {
      const start = starts[line]!;
      const end = starts[line + 1]!;
      const hash = hashBytes(data, start, end);
      let slot = hash & (slots.length - 1);
      let found = slots[slot]!;
      while (found >= 0) {
        if (hashes[found] === hash && firstLength[found] === end - start) {
          const other = found < oldNumbers || side === 0 ? sources[0] : sources[1];
          const from = firstStart[found]!;
          if (other.compare(data, start, end, from, from + end - start) === 0) break;
        }
        slot = (slot + 1) & (slots.length - 1);
        found = slots[slot]!;
      }
      if (found < 0) {
        found = numbers++;
        slots[slot] = found;
        hashes[found] = hash;
        firstStart[found] = start;
        firstLength[found] = end - start;
      }
      result[line] = found;
      counts[side][found]!++;
    }
    return result;
  };
  const oldLines = number(0, oldStarts);
  oldNumbers = numbers;
  const newLines = number(1, newStarts);
  return { old: oldLines, new: newLines, oldCount: counts[0], newCount: counts[1] };
}

/** FNV-1a with a random start, so that nobody can prepare lines that collide. */
function hashBytes(data: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ data[i]!, 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) ^ (hash >>> 12);
}

const SEED = (Math.random() * 2 ** 32) | 0;
