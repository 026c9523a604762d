import type { QueryOptions, Table } from './table.ts';
import type { Item } from './write.ts';

/** The record of a row: all that it has beside its key and the stamp of its last write. Undefined without a row. */
export function recordOf<T>(item: Item | undefined): T | undefined {
  if (item === undefined) return undefined;
  const { pk: _pk, sk: _sk, w: _stamp, ...record } = item;
  return record as T;
}

/** All records that a query finds, in its order: for subjects that have few of them. */
export async function allRecords<T>(table: Table, rows: QueryOptions): Promise<T[]> {
  const found: T[] = [];
  for await (const item of table.queryAll(rows)) found.push(recordOf<T>(item)!);
  return found;
}
