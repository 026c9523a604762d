import { isBinary } from './stats.ts';

/**
 * The content of a file for similarity comparisons (gitdiffcore, "the extent of changes"): its lines, or chunks of 64
 * bytes where a line is longer, in any order; for each distinct chunk the bytes it makes up. In text, LF and CRLF are
 * the same.
 */
export interface ContentIndex {
  readonly size: number;
  /** Distinct hashes of the chunks, sorted. */
  readonly hashes: Uint32Array;
  /** Total bytes of the chunks with that hash. */
  readonly bytes: Uint32Array;
}

const CHUNK_BYTES = 64;

/** Linear in the bytes, except for sorting the chunks. */
export function indexContent(data: Uint8Array): ContentIndex {
  const text = !isBinary(data);
  const totals = new Map<number, number>();
  let hash = SEED;
  let length = 0;
  const end = (): void => {
    const key = (hash ^ (hash >>> 15)) >>> 0;
    totals.set(key, (totals.get(key) ?? 0) + length);
    hash = SEED;
    length = 0;
  };
  for (let i = 0; i < data.length; i++) {
    const byte = data[i]!;
    if (byte === 0x0d && text && data[i + 1] === 0x0a) continue;
    hash = Math.imul(hash ^ byte, 0x01000193);
    if (++length === CHUNK_BYTES || byte === 0x0a) end();
  }
  if (length > 0) end();
  const hashes = Uint32Array.from(totals.keys()).sort();
  return { size: data.length, hashes, bytes: hashes.map((key) => totals.get(key)!) };
}

/** Random, so that nobody can craft colliding chunks. */
const SEED = (Math.random() * 2 ** 32) | 0;

/** The score of equal files. */
export const MAX_SCORE = 60_000;

/** Bytes of the old file that are also in the new one, as a share of the larger file: 0 to {@link MAX_SCORE}. */
export function similarity(old: ContentIndex, other: ContentIndex): number {
  const larger = Math.max(old.size, other.size);
  if (larger === 0) return 0;
  let common = 0;
  let [i, j] = [0, 0];
  while (i < old.hashes.length && j < other.hashes.length) {
    const [a, b] = [old.hashes[i]!, other.hashes[j]!];
    if (a === b) common += Math.min(old.bytes[i]!, other.bytes[j]!);
    if (a <= b) i++;
    if (b <= a) j++;
  }
  return Math.floor((common * MAX_SCORE) / larger);
}

/** Whether files of these sizes can reach a score. */
export function canReach(score: number, oneSize: number, otherSize: number): boolean {
  const larger = Math.max(oneSize, otherSize);
  return larger * (MAX_SCORE - score) >= (larger - Math.min(oneSize, otherSize)) * MAX_SCORE;
}
