import { type Item, itemSize, project } from './attribute.ts';
import { readUnits } from './capacity.ts';
import { validate } from './dynalite.ts';
import type { Database, Input, Operation } from './operation.ts';
import type { Path } from './path.ts';
import type { Table } from './table.ts';

/** A read of one item by its key. */
export interface Read {
  table: Table;
  /** The storage key. */
  key: string;
  attributes: Item;
  paths: readonly Path[] | undefined;
  consistent: boolean;
}

/** @throws DynamoError ValidationException, ResourceNotFoundException */
export function parseRead(database: Database, input: Input): Read {
  const data = validate<{ TableName: string; Key: Item; ConsistentRead?: boolean }>('GetItem', input);
  const table = database.catalog.table(data.TableName);
  table.checkKey(data.Key);
  return {
    table,
    key: table.itemKey(data.Key),
    attributes: data.Key,
    paths: data._projection?.paths,
    consistent: data.ConsistentRead === true,
  };
}

/**
 * The result of a read, from the stored text of its item; counts the capacity.
 * @param factor 2 in a transaction, which reads each item twice, consistently
 */
export function resultOf(operation: Operation, read: Read, text: string | undefined, factor: 1 | 2 = 1) {
  const item = text === undefined ? undefined : (JSON.parse(text) as Item);
  const units = readUnits(item ? itemSize(item) : 0, read.consistent || factor === 2) * factor;
  operation.meter.read(read.table.name, units);
  if (!item) return undefined;
  operation.itemsRead++;
  return read.paths ? project(item, read.paths) : item;
}

/** GetItem. */
export function getItem(database: Database, operation: Operation): unknown {
  const requested = operation.input['ReturnConsumedCapacity'] as string | undefined;
  const read = parseRead(database, operation.input);
  operation.touch(read.table, read.attributes);
  const item = resultOf(operation, read, database.storage.get(read.key));
  const capacity = operation.meter.report(requested)?.[0];
  return { ...(item ? { Item: item } : {}), ...(capacity ? { ConsumedCapacity: capacity } : {}) };
}
