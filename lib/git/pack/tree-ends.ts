import type { SharedEnds } from './delta.ts';

/** The bytes that a tree has in common with its delta base; entries in them need not be checked again. */
export interface SharedTree extends SharedEnds {
  readonly base: Uint8Array;
}

/**
 * Whether entries that start in the shared tail of a tree are also entries of its base. Bytes may have been copied from
 * the middle of an entry, and then mean something else.
 *
 * @param boundary start of an entry in both trees, before the difference
 * @param target where the entry in question would start in the base
 */
export function isEntryOf(base: Uint8Array, boundary: number, target: number): boolean {
  let at = boundary;
  while (at < target) {
    while (base[at] !== 0) if (++at >= base.length) return false;
    at += 21;
  }
  return at === target;
}
