/**
 * Changed-path Bloom filters as gitformat-commit-graph describes them, version 1: seven hashes and ten bits per path,
 * by double hashing with 32-bit murmur3. In that version bytes are signed, as `char` is on the machines that write
 * git's own files. A filter may give false positives, never false negatives.
 */
import type { RawPath } from '../tree/path.ts';

export const HASH_VERSION = 1;
export const HASHES = 7;
export const BITS_PER_PATH = 10;
/** A commit that changes more files, or more files and folders, gets the filter {@link ALWAYS}. */
export const MAX_CHANGES = 512;

/** The filter of a commit that changed too many paths: matches every path. */
export const ALWAYS = Uint8Array.of(0xff);
const NEVER = Uint8Array.of(0);

/** The hashes of one path, before they are reduced to the size of a filter. */
export type BloomKey = Uint32Array;

function bloomKey(path: string): BloomKey {
  const bytes = Buffer.from(path, 'latin1');
  const first = murmur3(0x293ae76f, bytes);
  const second = murmur3(0x7e646e2c, bytes);
  return Uint32Array.from({ length: HASHES }, (_, i) => (first + Math.imul(i, second)) >>> 0);
}

/** The keys that a filter contains if the path was changed: the path itself and every folder above it. */
export function pathKeys(path: RawPath): readonly BloomKey[] {
  return [path, ...foldersAbove(path)].map(bloomKey);
}

function* foldersAbove(path: string): Generator<string> {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    yield path.slice(0, slash);
  }
}

/** Whether the commit of this filter may have changed the path; true for an empty filter, which was never computed. */
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

/** @param paths changed files, at most {@link MAX_CHANGES}; their folders are added here */
export function bloomFilter(paths: Iterable<string>): Uint8Array {
  const all = new Set<string>();
  for (const path of paths) {
    all.add(path);
    for (const folder of foldersAbove(path)) {
      if (all.has(folder)) break;
      all.add(folder);
      if (all.size > MAX_CHANGES) return ALWAYS;
    }
    if (all.size > MAX_CHANGES) return ALWAYS;
  }
  if (all.size === 0) return NEVER;
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
