import type { PackDescription } from '../ports.ts';

/** Up to this many packs are left alone: a reader can query them all in one round trip. */
const MAX_PACKS = 8;
/** Fewer packs are not worth rewriting. */
const MIN_INPUTS = 4;
/** Each takes two writes of the transaction that replaces them. */
const MAX_INPUTS = 40;
/** Each pack should have at least this many times the bytes of the next smaller one. */
const GEOMETRIC_FACTOR = 2;
/** Minimum weight of a pack, one cache block: the cost of a small pack is its requests, not its bytes. */
const MIN_WEIGHT = 256 * 1024;
/** Total size of the packs merged into one: a Lambda function copies this in a fraction of its 15 minutes. */
const MAX_BYTES = 4 * 2 ** 30;
/** Each takes about 150 bytes of memory. */
const MAX_OBJECTS = 4_000_000;

/**
 * Selects the packs to merge into one, oldest first; none when there are few packs or they are well sized already.
 *
 * Sorted by size, packs should form a geometric progression (git-repack, `--geometric`): merges as many of the smallest
 * as needed for the result and the other packs to form one. So each object is rewritten a logarithmic number of times,
 * and a logarithmic number of packs remains. Never merges garbage packs, inherited packs, and packs larger than half
 * the maximum.
 */
export function compactionPlan(packs: readonly PackDescription[]): readonly PackDescription[] {
  const sorted = packs.filter(isInput).toSorted((a, b) => a.packSize - b.packSize || compareIds(a, b));
  if (sorted.length <= MAX_PACKS) return [];
  const weight = (bytes: number) => Math.max(bytes, MIN_WEIGHT);
  const weights = sorted.map(({ packSize }) => weight(packSize));
  let ordered = sorted.length - 1;
  while (ordered > 0 && weights[ordered]! >= GEOMETRIC_FACTOR * weights[ordered - 1]!) ordered--;
  // From `ordered` on, the rule holds. Merge the packs before it, and those the result would be too close to in size.
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

/** As many of them as fit the limits: at least two, because each is at most half the maximum. */
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
