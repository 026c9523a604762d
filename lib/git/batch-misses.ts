import { BlockMiss } from './pack/block-cache.ts';

/**
 * Reads that do not depend on each other, inside {@link ObjectStore.run}: what any of them misses is fetched
 * in one trip, instead of a trip for each.
 *
 * @throws BlockMiss with all that was missed, after every item was tried
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

/**
 * `read(first)`; when that misses a block, the same reading of `others`, which will be wanted next, is tried too,
 * so that one trip brings what all of them need.
 */
export function readAhead<T, R>(first: T, others: () => Iterable<T>, read: (item: T) => R): R {
  try {
    return read(first);
  } catch (error) {
    if (!(error instanceof BlockMiss)) throw error;
    const wanted = [...error.wanted];
    for (const item of others()) {
      try {
        read(item);
      } catch (other) {
        // What ails an item read ahead shows when its turn comes.
        if (other instanceof BlockMiss) wanted.push(...other.wanted);
      }
    }
    throw new BlockMiss(wanted);
  }
}
