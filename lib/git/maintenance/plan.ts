import type { PackDescription } from '../ports.ts';

/** Up to so many packs nothing is done: a reader asks them all in one trip. */
const MAX_PACKS = 8;
/** Fewer than this are not worth a rewrite. */
const MIN_INPUTS = 4;
/** Each is two writes of the one transaction that replaces them. */
const MAX_INPUTS = 40;
/** A pack should have at least this many times the bytes of the next smaller one. */
const GEOMETRIC_FACTOR = 2;
/** What is smaller weighs this much, a block of the cache: it costs its requests, hardly its bytes. */
const MIN_WEIGHT = 256 * 1024;
/** Of the packs that become one: what a function copies in a fraction of its fifteen minutes. */
const MAX_BYTES = 4 * 2 ** 30;
/** About 150 bytes of memory each. */
const MAX_OBJECTS = 4_000_000;

/**
 * Which packs to make one of, oldest first; none when the list is short or in order already.
 *
 * Sorted by size, packs are to form a geometric progression (git-repack, `--geometric`): the smallest are merged, as
 * many as it takes for the outcome and those left alone to form one. So each object is rewritten a logarithmic number
 * of times, and what is left is a logarithmic number of packs. Packs above half the largest outcome are left alone
 * for good, as is what collection put aside and what is inherited.
 */
export function compactionPlan(packs: readonly PackDescription[]): readonly PackDescription[] {
  const sorted = packs.filter(isInput).toSorted((a, b) => a.packSize - b.packSize || compareIds(a, b));
  if (sorted.length <= MAX_PACKS) return [];
  const weight = (bytes: number) => Math.max(bytes, MIN_WEIGHT);
  const weights = sorted.map(({ packSize }) => weight(packSize));
  let ordered = sorted.length - 1;
  while (ordered > 0 && weights[ordered]! >= GEOMETRIC_FACTOR * weights[ordered - 1]!) ordered--;
  // From `ordered` on the rule holds; what is before it is merged, and whatever the outcome then stands too near to.
  let bytes = 0;
  let end = 0;
  for (; end < sorted.length; end++) {
    if (end >= ordered && weights[end]! >= GEOMETRIC_FACTOR * weight(bytes)) break;
    bytes += sorted[end]!.packSize;
  }
  if (end < MIN_INPUTS) return [];
  return fitting(sorted.slice(0, end)).toSorted(compareIds);
}

function isInput({ source, packSize, objectCount, inherited }: PackDescription): boolean {
  return (
    source !== 'unreachable-garbage' &&
    inherited !== true &&
    packSize <= MAX_BYTES / 2 &&
    objectCount <= MAX_OBJECTS / 2
  );
}

/** As many of them as one rewrite may have: at least two, as each is at most half. */
function fitting(sorted: readonly PackDescription[]): PackDescription[] {
  let bytes = 0;
  let objects = 0;
  const end = sorted.findIndex((pack, i) => {
    bytes += pack.packSize;
    objects += pack.objectCount;
    return i >= MAX_INPUTS || bytes > MAX_BYTES || objects > MAX_OBJECTS;
  });
  return sorted.slice(0, end < 0 ? sorted.length : end);
}

const compareIds = (a: PackDescription, b: PackDescription) => (a.id < b.id ? -1 : 1);
