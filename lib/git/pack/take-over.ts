import type { ObjectList } from './object-list.ts';
import type { PackStore, UnlistedPack } from './store.ts';

/**
 * Locates objects of the list in a pack that was written before, as far as it has them: what is copied from there need not
 * be made again.
 *
 * @returns how many it has
 * @throws CorruptData, I/O errors; then nothing was changed
 */
export async function takeOver(store: PackStore, list: ObjectList, unlisted: UnlistedPack): Promise<number> {
  const pack = store.beside(unlisted);
  const positions = new Int32Array(list.count);
  await store.run(() => {
    const index = pack.index.whole();
    // A copy that is gone is noticed now.
    pack.file.block(0);
    for (let i = 0; i < list.count; i++) positions[i] = index.find(list.names, 20 * i);
  });
  let taken = 0;
  for (let i = 0; i < list.count; i++) {
    if (positions[i]! < 0) continue;
    list.move(i, pack, positions[i]!);
    taken++;
  }
  return taken;
}
