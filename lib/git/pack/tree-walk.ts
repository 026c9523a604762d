import { CorruptData } from '../corrupt-data.ts';
import { BLOB, TREE } from './entry.ts';

/**
 * @param at start of the entry's id
 * @param nameAt start of its name, which ends before `at - 1`
 * @param start where the entry begins, with its mode
 */
export type EntryVisitor = (
  data: Uint8Array,
  at: number,
  kind: number,
  nameAt: number,
  start: number,
) => void;

/** A tree that was walked: its bytes, and the starts of its entries, followed by the end. */
export interface WalkedTree {
  readonly data: Uint8Array;
  readonly starts: Uint32Array;
}

/**
 * Calls `visit` for the entries of a tree that are not also in `before`, without submodules. A tree is mostly the same
 * as in the adjacent commit, and equal parts are not even parsed.
 *
 * @param submodules whether submodules are visited too, as if they were files
 * @param gone is called for the entries of `before` that are not also in the tree, as `visit` for the others
 * @throws CorruptData
 */
export function walkTree(
  data: Uint8Array,
  before: WalkedTree | undefined,
  visit: EntryVisitor,
  submodules = false,
  gone?: EntryVisitor,
): WalkedTree {
  const { length } = data;
  const old = before?.data ?? NOTHING;
  const oldStarts = before?.starts ?? ONE_START;
  const oldCount = oldStarts.length - 1;
  let starts = scratch;
  let count = 0;
  let at = 0;
  // The first entry of the old tree that does not sort before the entry at `at`.
  let other = 0;
  for (;;) {
    const from = oldStarts[other]!;
    const shared = commonRun(data, at, old, from);
    if (shared > 22) {
      const last = lastAtOrBelow(oldStarts, from + shared, other);
      starts = withRoom(starts, count + last - other);
      const shift = at - from;
      if (shift === 0) {
        starts.set(oldStarts.subarray(other, last), count);
        count += last - other;
      } else for (let i = other; i < last; i++) starts[count++] = oldStarts[i]! + shift;
      other = last;
      at = oldStarts[last]! + shift;
    }
    if (at >= length) break;
    const start = at;
    starts = withRoom(starts, count + 1);
    starts[count++] = start;
    let kind = 0o100000;
    if (data[at] === 0x31 && data[at + 6] === 0x20) {
      if (data[at + 1] === 0x36) kind = 0o160000;
      at += 7;
    } else if (data[at] === 0x34 && data[at + 5] === 0x20) {
      kind = 0o040000;
      at += 6;
    } else {
      let mode = 0;
      for (let byte = data[at++]; byte !== 0x20; byte = data[at++]) {
        if (byte === undefined) throw cut();
        mode = (mode << 3) | (byte & 7);
      }
      kind = mode & 0o170000;
    }
    const nameAt = at;
    while (data[at] !== 0) if (++at >= length) throw cut();
    at++;
    const end = at + 20;
    if (end > length) throw cut();
    let same = false;
    while (other < oldCount) {
      // Both trees are sorted by name, so one parallel pass finds the common entries.
      const there = oldStarts[other]!;
      const order = compareNames(old, there, data, nameAt);
      if (order > 0) break;
      other++;
      const past = oldStarts[other]!;
      same = order === 0 && past - there === end - start && isEqual(data, start, old, there, end - start);
      if (!same && gone) visitAt(old, there, past, submodules, gone);
      if (order === 0) break;
    }
    if (!same && (kind !== 0o160000 || submodules))
      visit(data, at, kind === 0o040000 ? TREE : BLOB, nameAt, start);
    at = end;
  }
  if (gone)
    for (; other < oldCount; other++)
      visitAt(old, oldStarts[other]!, oldStarts[other + 1]!, submodules, gone);
  const kept = new Uint32Array(count + 1);
  kept.set(starts.subarray(0, count));
  kept[count] = length;
  return { data, starts: kept };
}

/** Visits the entry between `start` and `end` of a tree that was walked before. */
function visitAt(
  data: Uint8Array,
  start: number,
  end: number,
  submodules: boolean,
  visit: EntryVisitor,
): void {
  let mode = 0;
  let at = start;
  for (; data[at] !== 0x20; at++) mode = (mode << 3) | (data[at]! & 7);
  const kind = mode & 0o170000;
  if (kind !== 0o160000 || submodules) visit(data, end - 20, kind === 0o040000 ? TREE : BLOB, at + 1, start);
}

let scratch = new Uint32Array(1024);

function withRoom(starts: Uint32Array<ArrayBuffer>, count: number): Uint32Array<ArrayBuffer> {
  if (count <= starts.length) return starts;
  scratch = new Uint32Array(2 * count);
  scratch.set(starts);
  return scratch;
}

const NOTHING = new Uint8Array(0);
const ONE_START = new Uint32Array(1);

/** Compares the name of the entry that starts at `i` with the name at `nameAt`, as bytes. */
function compareNames(a: Uint8Array, i: number, b: Uint8Array, nameAt: number): number {
  while (a[i] !== 0x20) i++;
  i++;
  let j = nameAt;
  while (a[i] === b[j] && a[i] !== 0) {
    i++;
    j++;
  }
  return a[i]! - b[j]!;
}

/** Index of the last of the ascending `starts`, from index `low` on, that is at most `at`. */
function lastAtOrBelow(starts: Uint32Array, at: number, low: number): number {
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function isEqual(a: Uint8Array, i: number, b: Uint8Array, j: number, length: number): boolean {
  // Compare the id first: if entries differ, it usually does.
  for (let k = length - 20; k < length; k++) if (a[i + k] !== b[j + k]) return false;
  for (let k = 0; k < length - 20; k++) if (a[i + k] !== b[j + k]) return false;
  return true;
}

/** How many bytes from `i` on equal those from `j` on. */
function commonRun(a: Uint8Array, i: number, b: Uint8Array, j: number): number {
  const limit = Math.min(a.length - i, b.length - j);
  const near = Math.min(64, limit);
  let run = 0;
  while (run < near && a[i + run] === b[j + run]) run++;
  if (run < 64) return run;
  let step = 512;
  while (run + step <= limit && equalPieces(a, i + run, b, j + run, step)) {
    run += step;
    step = Math.min(2 * step, 8192);
  }
  for (step >>= 1; step >= 64; step >>= 1) {
    if (run + step <= limit && equalPieces(a, i + run, b, j + run, step)) run += step;
  }
  while (run < limit && a[i + run] === b[j + run]) run++;
  return run;
}

function equalPieces(a: Uint8Array, i: number, b: Uint8Array, j: number, length: number): boolean {
  return Buffer.compare(a.subarray(i, i + length), b.subarray(j, j + length)) === 0;
}

function cut(): CorruptData {
  return new CorruptData('object-malformed', 'tree entry is truncated');
}
