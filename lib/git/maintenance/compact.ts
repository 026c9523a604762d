import { ObjectList } from '../pack/object-list.ts';
import { type Pack, PackCache } from '../pack/pack-cache.ts';
import { PackStore } from '../pack/store.ts';
import { type MaintainedObjects, type PackDescription, PacksChanged } from '../ports.ts';
import { nextTurn } from '../work.ts';
import { compactionPlan } from './plan.ts';
import { loadIndexes, type RepackOptions, repackInto } from './repack.ts';

export interface CompactOptions extends RepackOptions {
  /** Milliseconds since 1970; no merge begins after it. */
  readonly deadline: number;
}

/**
 * Merges packs as {@link compactionPlan} selects them, until there is nothing to merge or the deadline has passed. May
 * be stopped at any step: the listed packs are always complete.
 *
 * @param listed packs that are listed now
 * @returns whether all is done
 * @throws PacksChanged, CorruptData, the adapter's I/O errors
 */
export async function compact(
  objects: MaintainedObjects,
  listed: readonly PackDescription[],
  options: CompactOptions,
): Promise<boolean> {
  let packs = listed;
  for (;;) {
    const inputs = compactionPlan(packs);
    if (inputs.length === 0) return true;
    if (Date.now() > options.deadline) return false;
    const store = storeOver(objects, inputs);
    const list = await allObjects(store);
    const pack = await repackInto(objects, store, list, 'compact', options);
    await replace(objects, [pack], inputs);
    packs = [pack, ...packs.filter((other) => !inputs.includes(other))];
  }
}

/** A store over these packs and derived files only, with a small cache, because nothing is read twice. */
export function storeOver(
  objects: MaintainedObjects,
  packs: readonly PackDescription[],
  derived = objects.derived,
): PackStore {
  const cache = new PackCache({ blockBytes: 64 * 2 ** 20, baseBytes: 32 * 2 ** 20, indexBytes: 0 });
  const database = {
    listPacks: async () => packs,
    open: objects.open.bind(objects),
    newPack: objects.newPack.bind(objects),
    rollbackPack: objects.rollbackPack.bind(objects),
    ...(derived && { derived }),
  };
  return new PackStore(database, { cache });
}

/** Every object of the packs once, in the first pack that has it. */
async function allObjects(store: PackStore): Promise<ObjectList> {
  const packs = await store.packs();
  await loadIndexes(store, packs);
  const list = new ObjectList();
  for (const pack of packs) {
    addAll(list, pack);
    await nextTurn();
  }
  return list;
}

function addAll(list: ObjectList, pack: Pack): void {
  const { names, count } = pack.index.whole();
  for (let position = 0; position < count; position++) list.add(names, 20 * position, 0, pack, position);
}

/** @throws PacksChanged, after deleting the new packs; any other error leaves them, since they may be listed */
export async function replace(
  objects: MaintainedObjects,
  add: readonly PackDescription[],
  replaced: readonly PackDescription[],
  options: { readonly epoch?: number } = {},
): Promise<void> {
  try {
    await objects.commitPacks(add, replaced, options);
  } catch (error) {
    if (error instanceof PacksChanged) for (const pack of add) await objects.rollbackPack(pack);
    throw error;
  }
}
