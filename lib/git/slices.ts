import { setImmediate } from 'node:timers/promises';
import type { ObjectStore, SyncObjects } from './objects.ts';
import type { ReadAhead } from './pack/block-cache.ts';

/**
 * Repeats `step` until it returns true, `size` times per turn of the event loop, so that a long walk neither
 * blocks other requests nor pays for a promise per object. A step that throws because a block is missing is
 * taken again once the block is there: it must read first and then change its state.
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
