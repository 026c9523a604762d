import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';
import type { BlamedRange, Span } from './spans.ts';

/** Ranges of lines that are kept for one repository, and those of one file. */
const MAX_RANGES = 50_000;
const MAX_RANGES_OF_FILE = 10_000;
/** Characters of a path that take as much memory as a range. */
const PATH_PIECE = 64;
/** Commits for which the ranges of a file are kept. */
const MAX_COMMITS = 4;

/** The ranges of a whole file in some commits, in order. */
type KnownFile = ReadonlyMap<Oid, readonly BlamedRange[]>;

/**
 * Which commits the lines of whole files came from. What a commit says of a file never changes, so that a blame from a later
 * commit, or of a part of the file, ends where it meets one of these. Drops the files that were asked for longest ago.
 */
export class KnownBlames {
  readonly #files = new Map<RawPath, Map<Oid, readonly BlamedRange[]>>();
  #size = 0;

  /** Ranges kept, and for each answer one more and its path: files may be empty, and paths long. */
  get size(): number {
    return this.#size;
  }

  of(path: RawPath): KnownFile | undefined {
    return this.#files.get(path);
  }

  add(path: RawPath, commit: Oid, ranges: readonly BlamedRange[]): void {
    if (ranges.length > MAX_RANGES_OF_FILE) return;
    const file = this.#files.get(path) ?? new Map<Oid, readonly BlamedRange[]>();
    this.#drop(path, file, commit);
    file.set(commit, ranges);
    this.#size += sizeOf(path, ranges);
    for (const oldest of file.keys()) {
      if (file.size <= MAX_COMMITS) break;
      this.#drop(path, file, oldest);
    }
    this.#files.delete(path);
    this.#files.set(path, file);
    for (const [other, dropped] of this.#files) {
      if (this.#size <= MAX_RANGES) break;
      for (const oid of dropped.keys()) this.#drop(other, dropped, oid);
      this.#files.delete(other);
    }
  }

  #drop(path: RawPath, file: Map<Oid, readonly BlamedRange[]>, commit: Oid): void {
    const ranges = file.get(commit);
    if (ranges !== undefined) this.#size -= sizeOf(path, ranges);
    file.delete(commit);
  }
}

const sizeOf = (path: RawPath, ranges: readonly BlamedRange[]): number =>
  1 + Math.floor(path.length / PATH_PIECE) + ranges.length;

/** What is known of the lines of these spans. @param known ranges of the whole file, in order */
export function* knownOf(spans: readonly Span[], known: readonly BlamedRange[]): Generator<BlamedRange> {
  for (const { final, source, count } of spans) {
    const end = source + count;
    for (let at = firstBehind(known, source); at < known.length && known[at]!.start < end; at++) {
      const range = known[at]!;
      const shift = final - source;
      yield {
        commit: range.commit,
        start: Math.max(range.start, source) + shift,
        end: Math.min(range.end, end) + shift,
      };
    }
  }
}

/** Index of the first range that ends behind the line. */
function firstBehind(known: readonly BlamedRange[], line: number): number {
  let low = 0;
  let high = known.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (known[middle]!.end <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}
