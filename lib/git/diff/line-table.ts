import { asBuffer } from '../../bytes/as-buffer.ts';
import { atOnce, Effort, type Steps } from '../work.ts';
import { commonEnds, grown, type LinePair, type TextLines } from './line-starts.ts';

/** The lines of two files as small numbers: equal lines, terminator included, have the same number. */
export interface LineTable {
  /** Number of each line of the old file; {@link UNLIKE} for lines of the common ends that no other line is equal to. */
  readonly old: Int32Array;
  readonly new: Int32Array;
  /** Per number: how often it occurs in the old file. */
  readonly oldCount: Int32Array;
  readonly newCount: Int32Array;
  /** Lines at the start and at the end that are equal, and need not be aligned. */
  readonly head: number;
  readonly tail: number;
}

/** Stands for all lines of the common ends that are equal to no line between these. */
const UNLIKE = -1;
/** Different lines for which there is room from the start: powers of two. */
const FIRST_NUMBERS = { least: 32, most: 1024 };
/** What a line costs beside its bytes. */
const LINE_EFFORT = 20;
/** Bytes of a line that is hashed in pieces. */
const LONG_LINE = 1024 * 1024;
/** Bytes from which a call of native code compares faster. */
const NATIVE_BYTES = 128;

/** Bytes whose newlines are counted in a millisecond, or less. */
const COUNTED_AT_ONCE = 256 * 1024;

/** Counts lines as git does: a last line without newline counts too. */
export const countLines = (data: Uint8Array): number => atOnce(countWithin(asBuffer(data), 0, data.length));

function newlines(data: Uint8Array): number {
  let lines = 0;
  for (let i = 0; i < data.length; i++) if (data[i] === 0x0a) lines++;
  return lines;
}

/** Lines of two texts. */
export interface SharedLines {
  readonly old: number;
  readonly new: number;
  /** Of both, in whatever order. */
  readonly shared: number;
}

/** Lines that are numbered at a time. */
const WINDOW = 16 * 1024;

/** Counts the lines that two texts have in common, in whatever order. Keeps what differs, and nothing for each line. */
export function* countShared(oldData: Uint8Array, newData: Uint8Array): Steps<SharedLines> {
  const [old, after] = [asBuffer(oldData), asBuffer(newData)];
  const { head, tail } = commonEnds(old, after);
  yield;
  const numbers = new LineNumbers(old, after, WINDOW);
  const both = (yield* countWithin(old, 0, head)) + (yield* countWithin(old, old.length - tail, old.length));
  const oldLines = yield* numbers.tally(old, head, old.length - tail);
  numbers.oldEnds();
  const newLines = yield* numbers.tally(after, head, after.length - tail);
  let shared = both;
  for (let number = 0; number < oldLines.counts.length; number++) {
    shared += Math.min(oldLines.counts[number]!, newLines.counts[number] ?? 0);
    if (number % WINDOW === 0) yield;
  }
  return { old: both + oldLines.lines, new: both + newLines.lines, shared };
}

function* countWithin(data: Buffer, from: number, end: number): Steps<number> {
  let lines = 0;
  for (let at = from; at < end; at += COUNTED_AT_ONCE) {
    lines += newlines(data.subarray(at, Math.min(end, at + COUNTED_AT_ONCE)));
    yield;
  }
  return lines + (end > from && data[end - 1] !== 0x0a ? 1 : 0);
}

/** Numbers the lines of both files, the common ends too, by content. Linear in the bytes. */
export function* numberLines(pair: LinePair): Steps<LineTable> {
  const { head, tail } = pair;
  const [old, after] = [new Int32Array(linesOf(pair.old)), new Int32Array(linesOf(pair.new))];
  const numbers = new LineNumbers(pair.old.data, pair.new.data, old.length + after.length - head - tail);
  yield* numbers.give(pair.old, old, 0, old.length);
  numbers.oldEnds();
  after.set(old.subarray(0, head));
  after.set(old.subarray(old.length - tail), after.length - tail);
  yield* numbers.give(pair.new, after, head, after.length - tail);
  const oldCount = yield* numbers.count(old, 0, old.length);
  const newCount = yield* numbers.count(after, 0, after.length);
  return { old, new: after, oldCount, newCount, head: 0, tail: 0 };
}

/**
 * Numbers the lines between the common head and tail, and those of head and tail that are equal to one of these: enough
 * for an alignment that leaves both ends as they are. Hardly reads the others.
 */
export function* numberMiddle(pair: LinePair): Steps<LineTable> {
  const { head, tail } = pair;
  const [old, after] = [new Int32Array(linesOf(pair.old)), new Int32Array(linesOf(pair.new))];
  const [oldEnd, newEnd] = [old.length - tail, after.length - tail];
  const numbers = new LineNumbers(pair.old.data, pair.new.data, oldEnd + newEnd - 2 * head);
  yield* numbers.give(pair.old, old, head, oldEnd);
  numbers.oldEnds();
  yield* numbers.give(pair.new, after, head, newEnd);
  const oldCount = yield* numbers.count(old, head, oldEnd);
  const newCount = yield* numbers.count(after, head, newEnd);
  const likely = numbers.likely();
  for (const [from, end] of [
    [0, head],
    [oldEnd, old.length],
  ] as const)
    yield* numbers.find(pair.old, old, from, end, likely, [oldCount, newCount]);
  after.set(old.subarray(0, head));
  after.set(old.subarray(oldEnd), newEnd);
  return { old, new: after, oldCount, newCount, head, tail };
}

const linesOf = ({ starts }: TextLines) => starts.length - 1;
const powerOfTwo = (atLeast: number) => 2 ** Math.ceil(Math.log2(atLeast));

class LineNumbers {
  #numbers = 0;
  /** Numbers below it are of lines of the old file. */
  #oldNumbers = Number.POSITIVE_INFINITY;
  readonly #old: Buffer;
  readonly #new: Buffer;
  #slots: Int32Array<ArrayBuffer>;
  // Per number: hash, start and length of the first such line.
  #hashes: Int32Array<ArrayBuffer>;
  #starts: Int32Array<ArrayBuffer>;
  #lengths: Int32Array<ArrayBuffer>;
  readonly #effort = new Effort();

  /** @param lines how many will be numbered */
  constructor(old: Uint8Array, after: Uint8Array, lines: number) {
    this.#old = asBuffer(old);
    this.#new = asBuffer(after);
    const room = powerOfTwo(Math.max(FIRST_NUMBERS.least, Math.min(lines + 1, FIRST_NUMBERS.most)));
    this.#slots = new Int32Array(2 * room).fill(-1);
    this.#hashes = new Int32Array(room);
    this.#starts = new Int32Array(room);
    this.#lengths = new Int32Array(room);
  }

  /** Lines of the new file follow. */
  oldEnds(): void {
    this.#oldNumbers = this.#numbers;
  }

  /** Numbers some lines of one file, those of the old one first. */
  *give({ data, starts }: TextLines, result: Int32Array, from: number, end: number): Steps<void> {
    for (let line = from; line < end; ) {
      line = this.#giveSome(data, starts, result, line, end);
      if (line >= end) break;
      yield;
      if (this.#numbers === this.#hashes.length) yield* this.#grow();
      const length = starts[line + 1]! - starts[line]!;
      if (length <= LONG_LINE) continue;
      const hash = yield* hashLong(data, starts[line]!, length);
      result[line] = this.#numbered(data, starts[line]!, length, hash);
      line++;
    }
  }

  /** Stops when it is time to, when there is no room, and at a long line. @returns the line at which it stopped */
  #giveSome(data: Uint8Array, starts: Int32Array, result: Int32Array, from: number, end: number): number {
    for (let line = from; line < end; line++) {
      const start = starts[line]!;
      const length = starts[line + 1]! - start;
      if (length > LONG_LINE || this.#numbers === this.#hashes.length) return line;
      result[line] = this.#numbered(data, start, length, hashBytes(data, start, length));
      if (this.#effort.spend(length + LINE_EFFORT)) return line + 1;
    }
    return end;
  }

  /** Numbers the lines between two bytes, of which the first starts one, and tells how often each number occurs. */
  *tally(data: Buffer, from: number, end: number): Steps<{ lines: number; counts: Int32Array }> {
    const [starts, given] = [new Int32Array(WINDOW + 1), new Int32Array(WINDOW)];
    let counts = new Int32Array(WINDOW);
    let lines = 0;
    for (let at = from; at < end; ) {
      let found = 0;
      starts[0] = at;
      for (; at < end && found < WINDOW; at++) {
        if (data[at] === 0x0a) starts[++found] = at + 1;
        if (at % COUNTED_AT_ONCE === 0) yield;
      }
      if (at === end && starts[found]! < end) starts[++found] = end;
      yield* this.give({ data, starts }, given, 0, found);
      while (this.#numbers > counts.length) counts = grown(counts);
      for (let line = 0; line < found; line++) counts[given[line]!]!++;
      lines += found;
      yield;
    }
    return { lines, counts };
  }

  /** How often each number occurs among some lines. */
  *count(lines: Int32Array, from: number, end: number): Steps<Int32Array> {
    const counts = new Int32Array(this.#numbers);
    /** @returns the line at which it stopped */
    const some = (at: number): number => {
      for (let line = at; line < end; line++) {
        counts[lines[line]!]!++;
        if (this.#effort.spend(1)) return line + 1;
      }
      return end;
    };
    for (let at = some(from); at < end; at = some(at)) yield;
    return counts;
  }

  /** Which keys of lines the numbered ones have: see {@link keyOf}. */
  likely(): Uint8Array {
    const size = Math.min(MAX_KEYS, KEYS_PER_NUMBER * powerOfTwo(this.#numbers + 1));
    const likely = new Uint8Array(size);
    for (let number = 0; number < this.#numbers; number++) {
      const data = number < this.#oldNumbers ? this.#old : this.#new;
      likely[keyOf(data, this.#starts[number]!, this.#lengths[number]!) & (size - 1)] = 1;
    }
    return likely;
  }

  /** Finds the numbers of lines that both files have in common, and counts them. */
  *find(
    { data, starts }: TextLines,
    result: Int32Array,
    from: number,
    end: number,
    likely: Uint8Array,
    [oldCount, newCount]: readonly [Int32Array, Int32Array],
  ): Steps<void> {
    const mask = likely.length - 1;
    /** Stops when it is time to, and at a long line. @returns the line at which it stopped */
    const some = (at: number): number => {
      for (let line = at; line < end; line++) {
        const start = starts[line]!;
        const length = starts[line + 1]! - start;
        let found = UNLIKE;
        let spent = LINE_EFFORT;
        if (likely[keyOf(data, start, length) & mask] === 1) {
          if (length > LONG_LINE) return line;
          found = this.#found(data, start, length, hashBytes(data, start, length));
          spent += length;
        }
        result[line] = found;
        if (found !== UNLIKE) {
          oldCount[found]!++;
          newCount[found]!++;
        }
        if (this.#effort.spend(spent)) return line + 1;
      }
      return end;
    };
    for (let line = some(from); line < end; line = some(line)) {
      yield;
      const length = starts[line + 1]! - starts[line]!;
      if (length <= LONG_LINE) continue;
      const hash = yield* hashLong(data, starts[line]!, length);
      const found = this.#found(data, starts[line]!, length, hash);
      result[line] = found;
      if (found !== UNLIKE) {
        oldCount[found]!++;
        newCount[found]!++;
      }
      line++;
    }
  }

  #numbered(data: Uint8Array, start: number, length: number, hash: number): number {
    const slot = this.#slotOf(data, start, length, hash);
    const found = this.#slots[slot]!;
    if (found >= 0) return found;
    const number = this.#numbers++;
    this.#slots[slot] = number;
    this.#hashes[number] = hash;
    this.#starts[number] = start;
    this.#lengths[number] = length;
    return number;
  }

  #found(data: Uint8Array, start: number, length: number, hash: number): number {
    return this.#slots[this.#slotOf(data, start, length, hash)]!;
  }

  /** The slot with the number of this line, or the empty one for it. */
  #slotOf(data: Uint8Array, start: number, length: number, hash: number): number {
    const [slots, hashes, lengths] = [this.#slots, this.#hashes, this.#lengths];
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let found = slots[slot]!; found >= 0; found = slots[slot]!) {
      if (hashes[found] === hash && lengths[found] === length) {
        const first = found < this.#oldNumbers ? this.#old : this.#new;
        if (equalBytes(first, this.#starts[found]!, data, start, length)) break;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Makes room for as many numbers again: there may be millions of lines, and few that differ. */
  *#grow(): Steps<void> {
    [this.#hashes, this.#starts, this.#lengths] = [
      grown(this.#hashes),
      grown(this.#starts),
      grown(this.#lengths),
    ];
    const [hashes, slots] = [this.#hashes, new Int32Array(2 * this.#hashes.length).fill(-1)];
    this.#slots = slots;
    for (let number = 0; number < this.#numbers; number++) {
      let slot = hashes[number]! & (slots.length - 1);
      while (slots[slot]! >= 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = number;
      if (this.#effort.spend(LINE_EFFORT)) yield;
    }
  }
}

/** Entries of a table of keys: a power of two. */
const KEYS_PER_NUMBER = 8;
const MAX_KEYS = 1024 * 1024;

/** Of equal lines the same, of others mostly another; found without reading the whole line. */
function keyOf(data: Uint8Array, start: number, length: number): number {
  return length * 0x25 + data[start]! * 0x1d3 + data[start + (length >> 1)]! * 0x5b5;
}

function equalBytes(a: Buffer, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  if (length >= NATIVE_BYTES) return a.compare(b, bStart, bStart + length, aStart, aStart + length) === 0;
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
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
