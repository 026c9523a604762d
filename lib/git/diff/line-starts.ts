import { asBuffer } from '../../bytes/as-buffer.ts';
import { atOnce, type Steps } from '../work.ts';

/** A text cut into lines. */
export interface TextLines {
  readonly data: Uint8Array;
  /** The start of each line, and the end of the last: `starts.length - 1` lines. */
  readonly starts: Int32Array;
}

/** Two texts cut into lines. */
export interface LinePair {
  readonly old: TextLines;
  readonly new: TextLines;
  /** How many lines the texts have in common at their start, and behind those at their end. */
  readonly head: number;
  readonly tail: number;
}

const NEWLINE = 0x0a;
/** A newline in each byte of a word; and the bits by which a word tells that one of its bytes is zero. */
const NEWLINES = 0x0a0a0a0a;
const ONES = 0x01010101;
const HIGH_BITS = 0x80808080;
const WORD = 4;
/** Bytes that are looked at in a millisecond, or less. */
const LOOKED_AT = 1024 * 1024;
/** Bytes compared at once. */
const PIECE = 4096;

/** The start of each line, and the end of the last: `starts.length - 1` lines. */
export function lineStarts(data: Uint8Array): Int32Array {
  return atOnce(lineStartsWithin(data, Number.POSITIVE_INFINITY))!;
}

/** The same; undefined when there are more than `max` lines. */
export function* lineStartsWithin(data: Uint8Array, max: number): Steps<Int32Array | undefined> {
  const found = new Starts(data);
  if (!(yield* found.cut(0, data.length, max))) return undefined;
  return found.all();
}

/**
 * Cuts two texts into lines. What they have in common at both ends is looked at in one of them only.
 *
 * @returns undefined when there are more than `max` lines in both together
 */
export function* cutIntoLines(
  oldData: Uint8Array,
  newData: Uint8Array,
  max: number,
): Steps<LinePair | undefined> {
  const ends = commonEnds(asBuffer(oldData), asBuffer(newData));
  const old = new Starts(oldData);
  const tailAt = oldData.length - ends.tail;
  if (!(yield* old.cut(0, ends.head, max))) return undefined;
  const head = old.lines;
  if (!(yield* old.cut(ends.head, tailAt, max))) return undefined;
  const beforeTail = old.lines;
  if (!(yield* old.cut(tailAt, oldData.length, max))) return undefined;
  const ofEnds = head + old.lines - beforeTail;
  const after = new Starts(newData, ofEnds + usualLines(newData.length - ends.head - ends.tail));
  after.take(old, 0, head, 0);
  const left = max - old.lines;
  if (!(yield* after.cut(ends.head, newData.length - ends.tail, left))) return undefined;
  after.take(old, beforeTail, old.lines, newData.length - oldData.length);
  if (after.lines > left) return undefined;
  return {
    old: { data: oldData, starts: old.all() },
    new: { data: newData, starts: after.all() },
    head,
    tail: old.lines - beforeTail,
  };
}

/** The starts of the lines of a text that were found so far. */
class Starts {
  /** Lines that are known to end. */
  lines = 0;
  readonly #data: Uint8Array;
  #starts: Int32Array<ArrayBuffer>;

  constructor(data: Uint8Array, lines = usualLines(data.length)) {
    this.#data = data;
    this.#starts = new Int32Array(16 + lines);
  }

  all(): Int32Array {
    return this.#starts.subarray(0, this.lines + 1);
  }

  /** Finds the lines that end between two bytes, of which the first starts a line. @returns false when they are too many */
  *cut(from: number, end: number, max: number): Steps<boolean> {
    for (let at = from; at < end; ) {
      const to = Math.min(at + LOOKED_AT, end);
      this.#lookAt(at, to);
      if (this.lines > max) return false;
      at = to;
      if (at < end) yield;
    }
    // A last line without newline is one too.
    const last = this.#data.length;
    if (end === last && last > from && this.#data[last - 1] !== NEWLINE) this.#add(last);
    return this.lines <= max;
  }

  /** Takes over lines of another text, whose bytes lie elsewhere in this one by `shift`. */
  take(other: Starts, from: number, end: number, shift: number): void {
    while (this.lines + end - from >= this.#starts.length) this.#starts = grown(this.#starts);
    const [starts, theirs, by] = [this.#starts, other.#starts, this.lines - from];
    for (let line = from + 1; line <= end; line++) starts[line + by] = theirs[line]! + shift;
    this.lines += end - from;
  }

  /** A word at a time, as most have no newline. */
  #lookAt(from: number, end: number): void {
    const { buffer, byteOffset } = this.#data;
    // Words begin at multiples of their size.
    let at = from + (-(byteOffset + from) & (WORD - 1));
    if (at + WORD > end) {
      this.#eachByte(from, end);
      return;
    }
    this.#eachByte(from, at);
    const words = new Int32Array(buffer, byteOffset + at, Math.floor((end - at) / WORD));
    for (let i = 0; i < words.length; i++, at += WORD) {
      const differing = words[i]! ^ NEWLINES;
      if (((differing - ONES) & ~differing & HIGH_BITS) !== 0) this.#eachByte(at, at + WORD);
    }
    this.#eachByte(at, end);
  }

  #eachByte(from: number, end: number): void {
    for (let at = from; at < end; at++) if (this.#data[at] === NEWLINE) this.#add(at + 1);
  }

  #add(start: number): void {
    if (++this.lines >= this.#starts.length) this.#starts = grown(this.#starts);
    this.#starts[this.lines] = start;
  }
}

/** Lines of a text, but for one with many short ones. */
const usualLines = (bytes: number) => bytes >> 4;

export function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** The bytes of the whole lines that two texts have in common at their start, and behind those at their end. */
export function commonEnds(a: Buffer, b: Buffer): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head + PIECE <= shorter && a.compare(b, head, head + PIECE, head, head + PIECE) === 0) head += PIECE;
  while (head < shorter && a[head] === b[head]) head++;
  if (head === a.length && head === b.length) return { head, tail: 0 };
  // A line may be as long as the text.
  head = head === 0 ? 0 : a.lastIndexOf(NEWLINE, head - 1) + 1;

  const most = shorter - head;
  let tail = 0;
  while (tail + PIECE <= most && equalTails(a, b, tail)) tail += PIECE;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const starts = (data: Buffer) => data.length === tail || data[data.length - 1 - tail] === NEWLINE;
  // Where no line starts in both, the next one that does.
  if (tail > 0 && !(starts(a) && starts(b))) {
    const newline = a.indexOf(NEWLINE, a.length - tail);
    tail = newline < 0 ? 0 : a.length - 1 - newline;
  }
  return { head, tail };
}

/** Compares the bytes before the last `behind` ones. */
function equalTails(a: Buffer, b: Buffer, behind: number): boolean {
  const [i, j] = [a.length - behind, b.length - behind];
  return a.compare(b, j - PIECE, j, i - PIECE, i) === 0;
}
