import { CopiedPacks } from './copied-packs.ts';
import type { ObjectList } from './object-list.ts';
import type { Pack } from './pack-cache.ts';
import { entryEnds } from './pack-index.ts';
import { SPARSE_SHARE } from './source-entries.ts';
import type { PackStore } from './store.ts';

/**
 * About how many bytes a pack of these objects has: those of their entries as they are stored. An entry that has to be
 * written anew, because its delta base is not in the list, takes more.
 *
 * @returns undefined for at most `limit`
 */
export async function storedBytesAbove(
  store: PackStore,
  list: ObjectList,
  limit: number,
): Promise<number | undefined> {
  const all = list.packs.reduce((sum, { description }) => sum + description.packSize, 0);
  if (all <= limit) return undefined;
  const copied = new CopiedPacks(list, true);
  const wanted = list.packs.map((_, number) => (copied.has(number) ? undefined : ([] as number[])));
  for (let i = 0; i < list.count; i++) wanted[list.packOf[i]!]?.push(list.positions[i]!);
  let bytes = copied.bytes;
  for (const [number, positions] of wanted.entries())
    if (positions?.length) bytes += await storedBytesOf(store, list.packs[number]!, positions);
  return bytes > limit ? bytes : undefined;
}

/** Bytes of the entries at these positions of a pack's index. */
async function storedBytesOf(
  store: PackStore,
  { index, description }: Pack,
  positions: readonly number[],
): Promise<number> {
  if (index.hasSortedOffsets || positions.length * SPARSE_SHARE >= index.count) {
    const { offsets, ranks } = await store.run(() => index.sortedOffsets());
    return positions.reduce((sum, at) => sum + offsets[ranks[at]! + 1]! - offsets[ranks[at]!]!, 0);
  }
  const whole = await store.run(() => index.whole());
  const starts = Float64Array.from(positions, (at) => whole.offset(at)).sort();
  return entryEnds(whole, starts, description.packSize).reduce((sum, end, i) => sum + end - starts[i]!, 0);
}
