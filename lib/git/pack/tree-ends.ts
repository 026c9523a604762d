import type { SharedEnds } from './delta.ts';

/** A tree's bytes in common with another tree: entries that lie in them need no second look. */
export interface SharedTree extends SharedEnds {
  readonly base: Uint8Array;
}

/**
 * Whether entries that begin in the shared tail of a tree are entries of its base too. Bytes may be copied
 * from the middle of an entry, and then mean something else.
 *
 * @param boundary where an entry begins in both trees, before what differs
 * @param target where the entry in question would begin in the base
 */
export function isEntryOf(base: Uint8Array, boundary: number, target: number): boolean {
  let at = boundary;
  while (at < target) {
    while (base[at] !== 0) if (++at >= base.length) return false;
    at += 21;
  }
  return at === target;
}
