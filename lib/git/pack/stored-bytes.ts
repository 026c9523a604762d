import { loadIndexes } from '../maintenance/repack.ts';
import { Pace } from '../work.ts';
import { CopiedPacks } from './copied-packs.ts';
import type { ObjectList } from './object-list.ts';
import type { PackStore } from './store.ts';

/** Objects counted between two looks at the clock. */
const STEP = 4096;

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
  const others = list.packs.filter((_, number) => !copied.has(number));
  await loadIndexes(store, others);
  const pace = new Pace();
  let bytes = copied.bytes;
  for (let i = 0; i < list.count; i++) {
    if (i % STEP === 0 && pace.due()) await pace.rest();
    const number = list.packOf[i]!;
    if (number < 0 || copied.has(number)) continue;
    const { offsets, ranks } = list.packs[number]!.index.sortedOffsets();
    const rank = ranks[list.positions[i]!]!;
    bytes += offsets[rank + 1]! - offsets[rank]!;
  }
  return bytes > limit ? bytes : undefined;
}
