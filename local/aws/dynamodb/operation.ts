import type { Item } from './attribute.ts';
import { CapacityMeter } from './capacity.ts';
import type { Catalog } from './catalog.ts';
import { invalid } from './errors.ts';
import type { Fault } from './faults.ts';
import type { IndexLag } from './index-lag.ts';
import type { Changes, Storage } from './storage.ts';
import type { Table } from './table.ts';

export type Input = Record<string, unknown>;

/** What every operation works with. */
export interface Database {
  storage: Storage;
  catalog: Catalog;
  indexLag: IndexLag;
}

/** What one operation did: for tests that count round trips, items read and capacity. */
export interface OperationRecord {
  /** As in the API: `PutItem`, `TransactWriteItems`. */
  operation: string;
  tables: string[];
  /** The index that was queried. */
  index?: string;
  /** The items or partitions requested, as `hash` or `hash/range`; without a query's range condition. */
  keys: string[];
  /** Items found by their keys, or evaluated by a query, before its filter. */
  itemsRead: number;
  /** Items put, updated or deleted. */
  itemsWritten: number;
  readUnits: number;
  writeUnits: number;
  /** From request to answer. */
  milliseconds: number;
  /** The name of the error in the answer. */
  error?: string;
}

/** A request under way. */
export class Operation {
  readonly name: string;
  readonly input: Input;
  readonly fault: Fault;
  readonly meter = new CapacityMeter();
  readonly keys: string[] = [];
  readonly #tables = new Set<string>();
  readonly #started = performance.now();
  index: string | undefined;
  itemsRead = 0;
  itemsWritten = 0;

  constructor(name: string, input: Input, fault: Fault) {
    this.name = name;
    this.input = input;
    this.fault = fault;
  }

  /** Records that an item was requested; with the hash key alone, a partition. */
  touch(table: Table, key: Item): void {
    this.#tables.add(table.name);
    this.keys.push(
      table.key
        .map(({ name, type }) => key[name]?.[type])
        .filter((value) => value !== undefined)
        .join('/'),
    );
  }

  touchPartition(table: Table, partition: string | undefined, index: string | undefined): void {
    this.#tables.add(table.name);
    this.index = index;
    if (partition !== undefined) this.keys.push(partition);
  }

  record(error?: string): OperationRecord {
    return {
      operation: this.name,
      tables: [...this.#tables],
      ...(this.index === undefined ? {} : { index: this.index }),
      keys: this.keys,
      itemsRead: this.itemsRead,
      itemsWritten: this.itemsWritten,
      readUnits: this.meter.readUnits,
      writeUnits: this.meter.writeUnits,
      milliseconds: performance.now() - this.#started,
      ...(error === undefined ? {} : { error }),
    };
  }
}

/** Adds all changes of an operation to the next batch. */
export function stage({ storage, indexLag }: Database, changes: Changes): void {
  if (!changes.size) return;
  indexLag.record(changes);
  storage.stage(changes);
}

/** @throws DynamoError ValidationException when a parameter has none of the allowed values */
export function checkEnum(input: Input, name: string, values: readonly string[]): void {
  const value = input[name];
  if (value == null || values.includes(value as string)) return;
  const parameter = name[0]!.toLowerCase() + name.slice(1);
  throw invalid(
    `1 validation error detected: Value '${value}' at '${parameter}' failed to satisfy constraint: ` +
      `Member must satisfy enum value set: [${values.join(', ')}]`,
  );
}
