import { BLOB, COMMIT, TAG, TREE } from '../pack/entry.ts';
import { Effort, type Steps } from '../work.ts';
import { Closures } from './bitmap-file.ts';
import { Bits } from './bits.ts';
import { compress, xorCompressed } from './ewah.ts';
import type { Numbering } from './object-set.ts';
import type { OpenedBitmap } from './open.ts';
import type { KnownClosures } from './select.ts';

/** Comparisons that it takes to find a name. */
const LOOK_UP = 40;

/**
 * The closures of a bitmap by the numbers of a later index, since a closure never changes. Also notes the types of all that
 * it knows.
 * @returns undefined when the later index lacks some of it
 */
export function* takenOver(
  { index: former, bitmap }: OpenedBitmap,
  numbers: Numbering,
): Steps<(KnownClosures & { readonly closures: Closures }) | undefined> {
  const { index } = numbers;
  const effort = new Effort();
  /** By number in the former index: that in the later one. */
  const moved = new Uint32Array(former.count);
  for (let position = 0; position < former.count; position++) {
    const found = index.find(former.names, 20 * position);
    if (found < 0) return undefined;
    moved[former.ranks[position]!] = index.ranks[found]!;
    if (effort.spend(LOOK_UP)) yield;
  }
  const { commits, trees, blobs, tags } = bitmap.types;
  for (const [type, bits] of [
    [COMMIT, commits],
    [TREE, trees],
    [BLOB, blobs],
    [TAG, tags],
  ] as const) {
    bits.forEach((number) => void numbers.setType(moved[number]!, type));
    yield;
  }
  const closures = new Closures(index.count);
  for (const { position, xorOffset, bytes } of bitmap.closures.entries()) {
    const change = new Bits(former.count);
    xorCompressed(change, bytes, 0);
    const there = new Bits(index.count);
    change.forEach((number) => void there.add(moved[number]!));
    closures.addChange(index.order[moved[former.ranks[position]!]!]!, compress(there), xorOffset);
    yield;
  }
  const reached = new Bits(index.count);
  commits.forEach((number) => void reached.add(moved[number]!));
  return {
    closures,
    covers: (number) => number < index.count && reached.has(number),
    has: (number) => number < index.count && closures.has(index.order[number]!),
  };
}
