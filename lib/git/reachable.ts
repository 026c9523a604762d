import { setImmediate } from 'node:timers/promises';
import { openBitmap } from './bitmap/open.ts';
import { reachedObjects, suitsBitmap } from './bitmap/reached-objects.ts';
import type { ObjectList } from './pack/object-list.ts';
import type { PackStore } from './pack/store.ts';
import { ObjectWalk } from './reachable/object-walk.ts';
import type { EnumerateOptions } from './reachable/options.ts';

export type { EnumerateOptions, ObjectFilter } from './reachable/options.ts';

/** Wanted commits above which a bitmap is quicker than walking on: at once where the receiver has nothing. */
const BITMAP_FROM = { clone: 64, fetch: 1000 };

/** Begins to read what tells the objects of a whole clone, for a caller that has something else to wait for first. */
export function prepareClone(store: PackStore): void {
  // What goes wrong is told to who uses it.
  openBitmap(store).catch(() => {});
}

/**
 * The objects of `git rev-list --objects <include> --not <exclude>`, with where each is stored.
 * Never one that `include` does not reach.
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
      // Few commits are soon walked, and tell the receiver's trees by path, which bitmaps do not.
      const reached = await reachedObjects(store, options);
      if (reached) return reached;
      bitmapFrom = Number.POSITIVE_INFINITY;
    }
    options.onProgress?.(walk.found);
    await setImmediate();
  }
}
