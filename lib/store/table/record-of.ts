import type { Item } from './write.ts';

/** The record of a row: all that it has beside its key and the stamp of its last write. Undefined without a row. */
export function recordOf<T>(item: Item | undefined): T | undefined {
  if (item === undefined) return undefined;
  const { pk: _pk, sk: _sk, w: _stamp, ...record } = item;
  return record as T;
}
