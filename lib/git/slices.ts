import type { ObjectStore, SyncObjects } from './objects.ts';
import type { ReadAhead } from './pack/block-cache.ts';
import { Pace } from './work.ts';

/**
 * Repeats `step` until it returns true, at most `size` times per turn of the event loop and until the turn's time is
 * over, so that a long walk neither blocks other requests nor costs a promise per object. A step that throws BlockMiss
 * is repeated once the block has been fetched, so it must do all its reads before it changes its state.
 */
export async function inSlices(
  store: ObjectStore,
  size: number,
  step: (objects: SyncObjects) => boolean,
  signal?: AbortSignal,
  ahead?: ReadAhead,
): Promise<void> {
  const pace = new Pace();
  signal?.throwIfAborted();
  for (;;) {
    const done = await store.run((objects) => {
      pace.begin();
      for (let i = 0; i < size; i++) {
        if (step(objects)) return true;
        if (pace.due()) return false;
      }
      return false;
    }, ahead);
    if (done) return;
    await pace.rest(signal);
  }
}

/** Reads every item, in order, in turns of the event loop. `read` is repeated after a BlockMiss: see {@link inSlices}. */
export async function eachInTurns<T, R>(
  store: ObjectStore,
  items: readonly T[],
  read: (objects: SyncObjects, item: T) => R,
): Promise<R[]> {
  const results: R[] = [];
  const step = (objects: SyncObjects): boolean => {
    if (results.length < items.length) results.push(read(objects, items[results.length]!));
    return results.length === items.length;
  };
  await inSlices(store, Number.POSITIVE_INFINITY, step);
  return results;
}
