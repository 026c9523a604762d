import type { Item } from './attribute.ts';
import { CapacityMeter } from './capacity.ts';
import type { Catalog } from './catalog.ts';
import { invalid } from './errors.ts';
import type { Fault } from './faults.ts';
import type { LateIndexes } from './late-index.ts';
import type { Changes, Storage } from './storage.ts';
import type { Table } from './table.ts';

export type Input = Record<string, unknown>;

/** What every operation works on. */
export interface Database {
  storage: Storage;
  catalog: Catalog;
  indexes: LateIndexes;
}

/** What one operation did, for tests that count round trips, items read and capacity. */
export interface OperationRecord {
  /** As in the API: `PutItem`, `TransactWriteItems`. */
  operation: string;
  tables: string[];
  /** The index that was queried. */
  index?: string;
  /** The items or partitions asked for, as `hash` or `hash/range`; a query's range condition is not part of it. */
  keys: string[];
  /** Items looked at: found by their keys, or evaluated by a query, filtered out or not. */
  itemsRead: number;
  /** Items put, changed or deleted. */
  itemsWritten: number;
  readUnits: number;
  writeUnits: number;
  /** From arrival to answer. */
  milliseconds: number;
  /** The name of the error that was answered. */
  error?: string;
}

/** One request being carried out. */
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

  /** Notes that an item, or with only the hash key a partition, is asked for. */
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

/** Puts an operation's changes, all of them, into the next batch. */
export function stage({ storage, indexes }: Database, changes: Changes): void {
  if (!changes.size) return;
  indexes.note(changes);
  storage.stage(changes);
}

/** @throws DynamoError ValidationException when a parameter is none of its values. */
export function checkEnum(input: Input, name: string, values: readonly string[]): void {
  const value = input[name];
  if (value == null || values.includes(value as string)) return;
  const parameter = name[0]!.toLowerCase() + name.slice(1);
  throw invalid(
    `1 validation error detected: Value '${value}' at '${parameter}' failed to satisfy constraint: ` +
      `Member must satisfy enum value set: [${values.join(', ')}]`,
  );
}
