import { isBinary } from './stats.ts';

/**
 * What of a file counts when it is compared with others (gitdiffcore, "the extent of changes"): its lines, or
 * pieces of 64 bytes where a line is longer, without regard to their order; for each kind how many bytes it
 * makes up. The end of a line in a text counts the same as LF and as CRLF.
 */
export interface ContentIndex {
  readonly size: number;
  /** Hashes of the pieces, sorted, each once. */
  readonly hashes: Uint32Array;
  /** Bytes that the pieces of that hash have together. */
  readonly bytes: Uint32Array;
}

const PIECE = 64;

/** Linear in the bytes, but for sorting the pieces. */
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
    if (++length === PIECE || byte === 0x0a) end();
  }
  if (length > 0) end();
  const hashes = Uint32Array.from(totals.keys()).sort();
  return { size: data.length, hashes, bytes: hashes.map((key) => totals.get(key)!) };
}

/** Random, so that nobody can prepare pieces that collide. */
const SEED = (Math.random() * 2 ** 32) | 0;

/** The score of files that are equal. */
export const MAX_SCORE = 60_000;

/** Bytes of the old file found again in the new, as a share of the larger one: 0 to {@link MAX_SCORE}. */
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

/** Whether files of these sizes can reach a score at all. */
export function canReach(score: number, oneSize: number, otherSize: number): boolean {
  const larger = Math.max(oneSize, otherSize);
  return larger * (MAX_SCORE - score) >= (larger - Math.min(oneSize, otherSize)) * MAX_SCORE;
}
