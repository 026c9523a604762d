import { openBitmap } from './bitmap/open.ts';
import { reachedObjects, suitsBitmap } from './bitmap/reached-objects.ts';
import type { ObjectList } from './pack/object-list.ts';
import type { PackStore } from './pack/store.ts';
import { ObjectWalk } from './reachable/object-walk.ts';
import type { EnumerateOptions } from './reachable/options.ts';
import { nextTurn } from './work.ts';

export type { EnumerateOptions, ObjectFilter } from './reachable/options.ts';

/** Number of wanted commits from which a bitmap is faster than walking; sooner when the receiver has nothing. */
const BITMAP_FROM = { clone: 64, fetch: 1000 };

/** Prefetches the bitmap for a full clone, for a caller that has to wait for something else first. */
export function prepareClone(store: PackStore): void {
  // Errors are reported to the next reader.
  openBitmap(store).catch(() => {});
}

/**
 * The objects of `git rev-list --objects <include> --not <exclude>`, with their locations in packs.
 * Never contains an object that `include` does not reach.
 *
 * @throws ObjectMissing when the repository lacks something reachable; CorruptData
 */
export async function enumerate(store: PackStore, options: EnumerateOptions): Promise<ObjectList> {
  const walk = new ObjectWalk(options);
  let bitmapFrom = options.exclude?.length ? BITMAP_FROM.fetch : BITMAP_FROM.clone;
  if (!suitsBitmap(options)) bitmapFrom = Number.POSITIVE_INFINITY;
  for (;;) {
    if (await store.run((objects) => walk.advance(objects, bitmapFrom), walk)) return walk.list;
    if (walk.commits >= bitmapFrom) {
      // Walking a few commits is fast, and also finds the receiver's trees by path, which bitmaps cannot.
      const reached = await reachedObjects(store, options);
      if (reached) return reached;
      bitmapFrom = Number.POSITIVE_INFINITY;
    }
    options.onProgress?.(walk.found);
    await nextTurn();
  }
}
