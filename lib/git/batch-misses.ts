import { BlockMiss } from './pack/block-cache.ts';

/**
 * Runs reads that do not depend on each other, inside {@link ObjectStore.run}, so that all missing blocks are fetched
 * in one round trip instead of one for each read.
 *
 * @throws BlockMiss with every missing block, after every item was tried
 */
export function batchMisses<T, R>(items: Iterable<T>, read: (item: T) => R): R[] {
  const results: R[] = [];
  const misses: BlockMiss[] = [];
  for (const item of items) {
    try {
      results.push(read(item));
    } catch (error) {
      if (!(error instanceof BlockMiss)) throw error;
      misses.push(error);
    }
  }
  if (misses.length > 0) throw new BlockMiss(misses.flatMap((miss) => miss.wanted));
  return results;
}

/** Milliseconds after which nothing more is read ahead: an item may be megabytes of deltas. */
const AHEAD_MS = 10;

/**
 * `read(first)`; when that misses a block, also tries to read `others`, the items needed next, so that one round trip
 * fetches the blocks of all of them.
 */
export function readAhead<T, R>(first: T, others: () => Iterable<T>, read: (item: T) => R): R {
  try {
    return read(first);
  } catch (error) {
    if (!(error instanceof BlockMiss)) throw error;
    const wanted = [...error.wanted];
    const until = performance.now() + AHEAD_MS;
    for (const item of others()) {
      if (performance.now() > until) break;
      try {
        read(item);
      } catch (other) {
        // Any other error of an item read ahead is thrown when the item itself is read.
        if (other instanceof BlockMiss) wanted.push(...other.wanted);
      }
    }
    throw new BlockMiss(wanted);
  }
}
