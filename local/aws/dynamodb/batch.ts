import { type Item, itemSize } from './attribute.ts';
import { MAX_ITEM_BYTES, validate } from './dynalite.ts';
import { invalid } from './errors.ts';
import { throughputExceeded } from './faults.ts';
import { type Read, resultOf } from './item-read.ts';
import { decide, locate, type Write } from './item-write.ts';
import { type Database, type Input, type Operation, stage } from './operation.ts';
import type { Changes } from './storage.ts';

/** Above this size a BatchGetItem leaves the rest of its keys unprocessed. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_WRITES = 25;

interface KeysAndAttributes {
  Keys: Item[];
  ConsistentRead?: boolean;
  _projection?: { paths: Read['paths'] };
}

/**
 * BatchGetItem. The items come in another order than the keys, because the service promises none; keys without an item are
 * left out.
 */
export function batchGetItem(database: Database, operation: Operation): unknown {
  const original = structuredClone(operation.input['RequestItems']) as Record<string, Input> | undefined;
  for (const request of Object.values(original ?? {})) {
    if (request?.['AttributesToGet'] != null) {
      throw invalid('The embedded DynamoDB does not support the legacy parameter AttributesToGet');
    }
  }
  const data = validate<{ RequestItems: Record<string, KeysAndAttributes>; ReturnConsumedCapacity?: string }>(
    'BatchGetItem',
    operation.input,
  );
  const reads = Object.entries(data.RequestItems).flatMap(([name, request]) => {
    const table = database.catalog.table(name);
    return request.Keys.map((attributes): Read => {
      table.checkKey(attributes);
      return {
        table,
        key: table.itemKey(attributes),
        attributes,
        paths: request._projection?.paths,
        consistent: request.ConsistentRead === true,
      };
    });
  });
  const processed = countProcessed(reads.length, operation);
  const responses: Record<string, Item[]> = {};
  for (const name of Object.keys(data.RequestItems)) responses[name] = [];
  const unprocessed: Record<string, Input & { Keys: Item[] }> = {};
  let bytes = 0;
  reads.forEach((read, index) => {
    const { name } = read.table;
    operation.touch(read.table, read.attributes);
    if (index >= processed || bytes > MAX_RESPONSE_BYTES) {
      unprocessed[name] ??= { ...original![name], Keys: [] };
      unprocessed[name].Keys.push(read.attributes);
      return;
    }
    const item = resultOf(operation, read, database.storage.get(read.key));
    if (!item) return;
    bytes += itemSize(item);
    responses[name]!.unshift(item);
  });
  return {
    Responses: responses,
    UnprocessedKeys: unprocessed,
    ...consumed(operation, data.ReturnConsumedCapacity),
  };
}

interface WriteEntry {
  PutRequest?: { Item: Item };
  DeleteRequest?: { Key: Item };
}

/** BatchWriteItem. Its writes are one atomic batch, although the service guarantees only that each item is atomic. */
export function batchWriteItem(database: Database, operation: Operation): unknown {
  const data = validate<{ RequestItems: Record<string, WriteEntry[]>; ReturnConsumedCapacity?: string }>(
    'BatchWriteItem',
    operation.input,
  );
  const writes = Object.entries(data.RequestItems).flatMap(([tableName, entries]) =>
    entries.map(({ PutRequest, DeleteRequest }): Write => {
      if (PutRequest && itemSize(PutRequest.Item) > MAX_ITEM_BYTES) {
        throw invalid('Item size has exceeded the maximum allowed size');
      }
      return locate(database, {
        kind: PutRequest ? 'PutItem' : 'DeleteItem',
        tableName,
        item: (PutRequest?.Item ?? DeleteRequest?.Key)!,
        condition: undefined,
        update: undefined,
        returnOld: false,
      });
    }),
  );
  if (writes.length > MAX_WRITES) throw invalid('Too many items requested for the BatchWriteItem call');
  if (new Set(writes.map(({ key }) => key)).size < writes.length) {
    throw invalid('Provided list of item keys contains duplicates');
  }
  const processed = countProcessed(writes.length, operation);
  const changes: Changes = new Map();
  const unprocessed: Record<string, WriteEntry[]> = {};
  writes.forEach((write, index) => {
    const { table, kind, item } = write;
    operation.touch(table, item);
    if (index >= processed) {
      unprocessed[table.name] ??= [];
      unprocessed[table.name]!.push(
        kind === 'PutItem' ? { PutRequest: { Item: item } } : { DeleteRequest: { Key: item } },
      );
      return;
    }
    operation.meter.write(table.name, decide(database, write, changes).units);
    operation.itemsWritten++;
  });
  stage(database, changes);
  return { UnprocessedItems: unprocessed, ...consumed(operation, data.ReturnConsumedCapacity) };
}

/** How many of a batch's entries are processed. @throws DynamoError when a fault leaves none */
function countProcessed(entries: number, { fault }: Operation): number {
  const processed = entries - (fault.unprocessed ?? 0);
  if (processed <= 0) throw throughputExceeded();
  return processed;
}

function consumed(operation: Operation, requested: string | undefined) {
  const capacity = operation.meter.report(requested);
  return capacity ? { ConsumedCapacity: capacity } : {};
}
