import { setImmediate } from 'node:timers/promises';
import type { ObjectStore, SyncObjects } from './objects.ts';
import type { ReadAhead } from './pack/block-cache.ts';

/**
 * Repeats `step` until it returns true, `size` times per turn of the event loop, so that a long walk neither
 * blocks other requests nor costs a promise per object. A step that throws BlockMiss is repeated once the block has
 * been fetched, so it must do all its reads before it changes its state.
 */
export async function inSlices(
  store: ObjectStore,
  size: number,
  step: (objects: SyncObjects) => boolean,
  signal?: AbortSignal,
  ahead?: ReadAhead,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const done = await store.run((objects) => {
      for (let i = 0; i < size; i++) if (step(objects)) return true;
      return false;
    }, ahead);
    if (done) return;
    await setImmediate();
  }
}
