import { asBuffer } from '../tree/entry.ts';
import { atOnce, Effort, type Steps } from '../work.ts';

/** The lines of two files as small numbers: equal lines, terminator included, have the same number. */
export interface LineTable {
  /** Number of each line of the old file. */
  readonly old: Int32Array;
  readonly new: Int32Array;
  /** Per number: how often it occurs in the old file. */
  readonly oldCount: Int32Array;
  readonly newCount: Int32Array;
}

/** The start of each line, and the end of the last: `starts.length - 1` lines. */
export function lineStarts(data: Uint8Array): Int32Array {
  return atOnce(lineStartsWithin(data, Number.POSITIVE_INFINITY))!;
}

/** The same; undefined when there are more than `max` lines. */
export function* lineStartsWithin(data: Uint8Array, max: number): Steps<Int32Array | undefined> {
  let starts = new Int32Array(16 + (data.length >> 5));
  let line = 1;
  for (let i = 0; i < data.length - 1; ) {
    for (const end = Math.min(i + LOOKED_AT, data.length - 1); i < end; i++) {
      if (data[i] !== 0x0a) continue;
      if (line >= max) return undefined;
      if (line + 1 >= starts.length) starts = grown(starts);
      starts[line++] = i + 1;
    }
    if (i < data.length - 1) yield;
  }
  if (data.length === 0) return new Int32Array(1);
  starts[line] = data.length;
  return starts.subarray(0, line + 1);
}

/** Bytes that are looked at in a millisecond. */
const LOOKED_AT = 1024 * 1024;
/** Different lines for which there is room from the start: a power of two. */
const FIRST_NUMBERS = 1024;
/** What a line costs beside its bytes. */
const LINE_EFFORT = 20;
/** Bytes of a line that is hashed in pieces. */
const LONG_LINE = 1024 * 1024;
/** Bytes compared at once. */
const PIECE = 4096;

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** Counts lines as git does: a last line without newline counts too. */
export function countLines(data: Uint8Array): number {
  let lines = data.length > 0 && data[data.length - 1] !== 0x0a ? 1 : 0;
  for (let i = 0; i < data.length; i++) if (data[i] === 0x0a) lines++;
  return lines;
}

/** Numbers the lines of both files, by content. Linear in the bytes. */
export function* numberLines(
  oldData: Uint8Array,
  oldStarts: Int32Array,
  newData: Uint8Array,
  newStarts: Int32Array,
): Steps<LineTable> {
  let slots = new Int32Array(2 * FIRST_NUMBERS).fill(-1);
  // Per number: hash, start and length of the first such line; numbers below `oldNumbers` are of the old file.
  let hashes = new Int32Array(FIRST_NUMBERS);
  let firstStart = new Int32Array(FIRST_NUMBERS);
  let firstLength = new Int32Array(FIRST_NUMBERS);
  const sources = [asBuffer(oldData), asBuffer(newData)] as const;
  const effort = new Effort();
  let numbers = 0;
  let oldNumbers = 0;

  /** Numbers lines of one side until it is time to stop. @returns the line at which it stopped: one that is too long, or `end` */
  const number = (side: 0 | 1, starts: Int32Array, result: Int32Array, from: number, end: number): number => {
    const data = sources[side];
    for (let line = from; line < end; line++) {
      const length = starts[line + 1]! - starts[line]!;
      if (length > LONG_LINE || numbers === hashes.length) return line;
      result[line] = numbered(side, data, starts[line]!, length, hashBytes(data, starts[line]!, length));
      if (effort.spend(length + LINE_EFFORT)) return line + 1;
    }
    return end;
  };
  const numbered = (side: 0 | 1, data: Buffer, start: number, length: number, hash: number): number => {
    let slot = hash & (slots.length - 1);
    let found = slots[slot]!;
    while (found >= 0) {
      if (hashes[found] === hash && firstLength[found] === length) {
        const other = found < oldNumbers || side === 0 ? sources[0] : sources[1];
        const from = firstStart[found]!;
        if (other.compare(data, start, start + length, from, from + length) === 0) break;
      }
      slot = (slot + 1) & (slots.length - 1);
      found = slots[slot]!;
    }
    if (found < 0) {
      found = numbers++;
      slots[slot] = found;
      hashes[found] = hash;
      firstStart[found] = start;
      firstLength[found] = length;
    }
    return found;
  };
  /** Makes room for as many numbers again: there may be millions of lines, and few that differ. */
  function* grow(): Steps<void> {
    [hashes, firstStart, firstLength] = [grown(hashes), grown(firstStart), grown(firstLength)];
    slots = new Int32Array(2 * hashes.length).fill(-1);
    for (let number = 0; number < numbers; number++) {
      let slot = hashes[number]! & (slots.length - 1);
      while (slots[slot]! >= 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = number;
      if (effort.spend(LINE_EFFORT)) yield;
    }
  }
  /** Numbers the lines of one side, except the common head and tail, which are known. */
  function* numberAll(
    side: 0 | 1,
    starts: Int32Array,
    result: Int32Array,
    head: number,
    tail: number,
  ): Steps<void> {
    const end = result.length - tail;
    for (let line = head; line < end; ) {
      line = number(side, starts, result, line, end);
      if (line >= end) break;
      yield;
      if (numbers === hashes.length) yield* grow();
      const length = starts[line + 1]! - starts[line]!;
      if (length <= LONG_LINE) continue;
      const hash = yield* hashLong(sources[side], starts[line]!, length);
      result[line] = numbered(side, sources[side], starts[line]!, length, hash);
      line++;
    }
  }
  function* counted(lines: Int32Array): Steps<Int32Array> {
    const counts = new Int32Array(numbers);
    for (const found of lines) {
      counts[found]!++;
      if (effort.spend(1)) yield;
    }
    return counts;
  }
  const oldLines = new Int32Array(oldStarts.length - 1);
  const newLines = new Int32Array(newStarts.length - 1);
  yield* numberAll(0, oldStarts, oldLines, 0, 0);
  oldNumbers = numbers;
  const { head, tail } = commonEnds(sources[0], oldStarts, sources[1], newStarts);
  newLines.set(oldLines.subarray(0, head));
  newLines.set(oldLines.subarray(oldLines.length - tail), newLines.length - tail);
  yield* numberAll(1, newStarts, newLines, head, tail);
  const oldCount = yield* counted(oldLines);
  return { old: oldLines, new: newLines, oldCount, newCount: yield* counted(newLines) };
}

/** The number of lines in the common head and tail of both files. */
function commonEnds(
  oldData: Buffer,
  oldStarts: Int32Array,
  newData: Buffer,
  newStarts: Int32Array,
): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(oldData.length, newData.length);
  let same = 0;
  while (same + PIECE <= shorter && oldData.compare(newData, same, same + PIECE, same, same + PIECE) === 0)
    same += PIECE;
  while (same < shorter && oldData[same] === newData[same]) same++;
  const lines = Math.min(oldStarts.length, newStarts.length) - 1;
  let head = 0;
  // The last common line may continue in one file: it counts only if it ends in both.
  while (head < lines && oldStarts[head + 1]! <= same && oldStarts[head + 1] === newStarts[head + 1]) head++;
  let tail = 0;
  const [oldEnd, newEnd] = [oldData.length, newData.length];
  let behind = 0;
  while (behind + PIECE <= shorter && equalTails(oldData, newData, behind)) behind += PIECE;
  while (behind < shorter && oldData[oldEnd - 1 - behind] === newData[newEnd - 1 - behind]) behind++;
  while (tail < lines - head) {
    const length = oldEnd - oldStarts[oldStarts.length - 2 - tail]!;
    if (length > behind || length !== newEnd - newStarts[newStarts.length - 2 - tail]!) break;
    tail++;
  }
  return { head, tail };
}

/** Compares the bytes before the last `behind` ones. */
function equalTails(oldData: Buffer, newData: Buffer, behind: number): boolean {
  const [a, b] = [oldData.length - behind, newData.length - behind];
  return oldData.compare(newData, b - PIECE, b, a - PIECE, a) === 0;
}

/** FNV-1a with a random seed, so that nobody can craft colliding lines. */
function hashBytes(data: Uint8Array, start: number, length: number): number {
  return mixed(hashOn(SEED, data, start, start + length));
}

/** The same. */
function* hashLong(data: Uint8Array, start: number, length: number): Steps<number> {
  const end = start + length;
  let hash = SEED;
  for (let at = start; at < end; at += LONG_LINE) {
    hash = hashOn(hash, data, at, Math.min(end, at + LONG_LINE));
    yield;
  }
  return mixed(hash);
}

function hashOn(before: number, data: Uint8Array, start: number, end: number): number {
  let hash = before;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ data[i]!, 0x01000193);
  return hash;
}

function mixed(hash: number): number {
  const folded = hash ^ (hash >>> 15);
  return Math.imul(folded, 0x2c1b3c6d) ^ (folded >>> 12);
}

const SEED = (Math.random() * 2 ** 32) | 0;
