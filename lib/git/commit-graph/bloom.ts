/**
 * Changed-path Bloom filters as gitformat-commit-graph describes them, version 1: seven positions of ten bits a path,
 * by double hashing with 32-bit murmur3. In that version a byte above 127 counts as negative, as in the `char` of the
 * machines on which git's own files are made. A filter may say yes in error, never no.
 */
import type { RawPath } from '../tree/path.ts';

export const HASH_VERSION = 1;
export const HASHES = 7;
export const BITS_PER_PATH = 10;
/** A commit that changes more files, or more files and folders, has no filter that could say no. */
export const MOST_CHANGES = 512;

/** The filter of a commit that changed too much: always yes. */
export const ALWAYS = Uint8Array.of(0xff);
const NEVER = Uint8Array.of(0);

/** The positions of one path, before they are fitted to a filter. */
export type BloomKey = Uint32Array;

function bloomKey(path: string): BloomKey {
  const bytes = Buffer.from(path, 'latin1');
  const first = murmur3(0x293ae76f, bytes);
  const second = murmur3(0x7e646e2c, bytes);
  return Uint32Array.from({ length: HASHES }, (_, i) => (first + Math.imul(i, second)) >>> 0);
}

/** What a filter must hold when something at the path was changed: the path itself and every folder above it. */
export function pathKeys(path: RawPath): readonly BloomKey[] {
  return [path, ...foldersAbove(path)].map(bloomKey);
}

function* foldersAbove(path: string): Generator<string> {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    yield path.slice(0, slash);
  }
}

/** Whether the commit of this filter may have changed something there; an empty filter was never made. */
export function mayHaveChanged(filter: Uint8Array, keys: readonly BloomKey[]): boolean {
  return keys.every((key) => mayContain(filter, key));
}

function mayContain(filter: Uint8Array, key: BloomKey): boolean {
  const bits = 8 * filter.length;
  if (bits === 0) return true;
  for (let i = 0; i < HASHES; i++) {
    const bit = key[i]! % bits;
    if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** @param paths files that were changed, at most {@link MOST_CHANGES}; their folders are added here */
export function bloomFilter(paths: Iterable<string>): Uint8Array {
  const all = new Set<string>();
  for (const path of paths) {
    all.add(path);
    for (const folder of foldersAbove(path)) {
      if (all.has(folder)) break;
      all.add(folder);
    }
  }
  if (all.size === 0) return NEVER;
  if (all.size > MOST_CHANGES) return ALWAYS;
  const filter = new Uint8Array(Math.ceil((all.size * BITS_PER_PATH) / 8));
  for (const path of all) {
    for (const position of bloomKey(path)) {
      const bit = position % (8 * filter.length);
      filter[bit >>> 3]! |= 1 << (bit & 7);
    }
  }
  return filter;
}

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

/** 32-bit murmur3 over signed bytes. */
function murmur3(seed: number, bytes: Uint8Array): number {
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = bytes.length & ~3;
  let hash = seed;
  for (let i = 0; i < whole; i += 4) {
    const word = signed[i]! | (signed[i + 1]! << 8) | (signed[i + 2]! << 16) | (signed[i + 3]! << 24);
    hash ^= mixed(word);
    hash = (Math.imul(rotated(hash, 13), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let i = bytes.length - 1; i >= whole; i--) rest ^= signed[i]! << (8 * (i - whole));
  hash ^= mixed(rest) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const rotated = (word: number, by: number) => (word << by) | (word >>> (32 - by));
const mixed = (word: number) => Math.imul(rotated(Math.imul(word, C1), 15), C2);
