import { type Item, itemSize, project } from './attribute.ts';
import { type Condition, holds } from './condition.ts';
import { MAX_ITEM_BYTES, validate } from './dynalite.ts';
import { ConditionFailed, invalid } from './errors.ts';
import { checkEnum, type Database, type Input, type Operation, stage } from './operation.ts';
import type { Changes } from './storage.ts';
import { type Table, type WriteUnits, writeUnits } from './table.ts';
import { applyUpdate, type Update } from './update.ts';

export type WriteKind = 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheck';

/** A write of one item: its shape is checked, its expressions are parsed. */
export interface WriteRequest {
  kind: WriteKind;
  tableName: string;
  /** The whole item of a put; the key for the other kinds. */
  item: Item;
  condition: Condition | undefined;
  update: Update | undefined;
  /** Whether the error of a failed condition has the existing item. */
  returnOld: boolean;
}

/** The same, with its table and storage key. */
export interface Write extends WriteRequest {
  table: Table;
  key: string;
}

/** What a write does to its item. */
export interface WriteEffect {
  before: Item | undefined;
  after: Item | undefined;
  units: WriteUnits;
}

/** @throws DynamoError ValidationException, SerializationException */
export function parseWrite(kind: WriteKind, input: Input): WriteRequest {
  checkEnum(input, 'ReturnValuesOnConditionCheckFailure', ['ALL_OLD', 'NONE']);
  const returnOld = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
  if (kind === 'ConditionCheck' && input['ConditionExpression'] == null) {
    throw invalid('The expression can not be empty: a ConditionCheck needs a ConditionExpression');
  }
  // A ConditionCheck has the shape of a delete.
  const shape = kind === 'ConditionCheck' ? 'DeleteItem' : kind;
  const data = validate<{ TableName: string; Item?: Item; Key?: Item }>(shape, input);
  if (data.Item && itemSize(data.Item) > MAX_ITEM_BYTES) {
    throw invalid('Item size has exceeded the maximum allowed size');
  }
  return {
    kind,
    tableName: data.TableName,
    item: (data.Item ?? data.Key)!,
    condition: data._condition?.expression,
    update: data._updates,
    returnOld,
  };
}

/** @throws DynamoError ResourceNotFoundException, or ValidationException when the item does not fit the table's keys */
export function locate(database: Database, request: WriteRequest): Write {
  const table = database.catalog.table(request.tableName);
  const { kind, item, update } = request;
  if (kind === 'PutItem') table.checkItem(item);
  else table.checkKey(item);
  for (const { name } of update ? table.key : []) {
    if (update!.paths.some(([head]) => head === name)) {
      throw invalid(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      );
    }
  }
  return { ...request, table, key: table.itemKey(item) };
}

/**
 * Checks a write's condition against the item that the next batch will find, and adds its effect to `changes`, which must
 * be staged in the same turn.
 * @throws ConditionFailed, or DynamoError ValidationException when an update does not fit the item
 */
export function decide(database: Database, write: Write, changes: Changes): WriteEffect {
  const { kind, table, key, item, condition, update } = write;
  const text = database.storage.peek(key);
  const before = text === undefined ? undefined : (JSON.parse(text) as Item);
  if (condition && !holds(condition, before ?? {})) {
    throw new ConditionFailed(write.returnOld ? before : undefined);
  }
  if (kind === 'ConditionCheck') {
    return {
      before,
      after: before,
      units: { table: writeUnits(before ? itemSize(before) : 0), indexes: {} },
    };
  }
  let after: Item | undefined;
  if (kind === 'PutItem') after = item;
  else if (kind === 'UpdateItem') {
    after = update ? applyUpdate(update, before ?? item) : (before ?? item);
    if (itemSize(after) > MAX_ITEM_BYTES) {
      throw invalid('Item size to update has exceeded the maximum allowed size');
    }
    table.checkItem(after);
  }
  return { before, after, units: table.change(key, before, after, changes) };
}

const RETURN_VALUES: Record<string, readonly string[]> = {
  PutItem: ['NONE', 'ALL_OLD'],
  DeleteItem: ['NONE', 'ALL_OLD'],
  UpdateItem: ['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'],
};

/** PutItem, UpdateItem and DeleteItem. */
export function writeItem(database: Database, operation: Operation): unknown {
  const { input } = operation;
  const kind = operation.name as Exclude<WriteKind, 'ConditionCheck'>;
  const { ReturnValues = 'NONE', ReturnConsumedCapacity } = input as Record<string, string>;
  const request = parseWrite(kind, input);
  if (!RETURN_VALUES[kind]!.includes(ReturnValues)) {
    throw invalid('ReturnValues can only be ALL_OLD or NONE');
  }
  const write = locate(database, request);
  operation.touch(write.table, write.item);
  const changes: Changes = new Map();
  let effect: WriteEffect;
  try {
    effect = decide(database, write, changes);
  } catch (error) {
    // A failed write costs as much as the item it failed on.
    if (error instanceof ConditionFailed) {
      const size = error.item ? itemSize(error.item) : 0;
      operation.meter.write(write.table.name, { table: writeUnits(size), indexes: {} });
    }
    throw error;
  }
  stage(database, changes);
  operation.meter.write(write.table.name, effect.units);
  operation.itemsWritten = changes.size ? 1 : 0;
  const attributes = returned(ReturnValues, effect, request.update);
  const capacity = operation.meter.report(ReturnConsumedCapacity)?.[0];
  return {
    ...(attributes ? { Attributes: attributes } : {}),
    ...(capacity ? { ConsumedCapacity: capacity } : {}),
  };
}

function returned(requested: string, { before, after }: WriteEffect, update: Update | undefined) {
  const part = (item: Item | undefined) => {
    const found = item && update ? project(item, update.paths) : {};
    return Object.keys(found).length ? found : undefined;
  };
  switch (requested) {
    case 'ALL_OLD':
      return before;
    case 'ALL_NEW':
      return after;
    case 'UPDATED_OLD':
      return part(before);
    case 'UPDATED_NEW':
      return part(after);
    default:
      return undefined;
  }
}
