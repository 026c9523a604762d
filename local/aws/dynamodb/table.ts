import { randomBytes } from 'node:crypto';
import { type Attribute, type Item, itemSize } from './attribute.ts';
import { keyEncoding } from './dynalite.ts';
import { invalid } from './errors.ts';
import type { Changes } from './storage.ts';

export interface KeyAttribute {
  name: string;
  type: 'S' | 'N' | 'B';
}

/** The hash key, and the range key if there is one. */
export type Key = readonly [KeyAttribute] | readonly [KeyAttribute, KeyAttribute];

/** A table's description, in the API's terms. */
export interface TableDescription {
  TableName: string;
  TableStatus: 'ACTIVE' | 'CREATING' | 'UPDATING' | 'DELETING';
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  KeySchema: { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[];
  GlobalSecondaryIndexes?: IndexDescription[];
  [other: string]: unknown;
}
export interface IndexDescription {
  IndexName: string;
  IndexStatus?: 'ACTIVE' | 'CREATING';
  KeySchema: TableDescription['KeySchema'];
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] };
  [other: string]: unknown;
}

/** What is stored of a table besides its rows. */
export interface TableRecord {
  /** Part of every key of its rows, so that a table that is deleted and created again starts empty. */
  id: string;
  /** The same for each of its indexes, by name. */
  indexIds: Record<string, string>;
  description: TableDescription;
  /** `filled` when the items from before it was enabled can expire too. */
  timeToLive?: { attribute: string; id: string; filled?: boolean };
  pointInTimeRecovery: boolean;
}

/** A row of an index: its storage key, its value, and its size in bytes. */
export interface IndexRow {
  key: string;
  value: string;
  size: number;
}

/** Write units by index name, and those of the table itself. */
export interface WriteUnits {
  table: number;
  indexes: Record<string, number>;
}

export const newId = () => randomBytes(6).toString('hex');

/** A table: the keys of its rows and of its index rows, and the changes that a write of an item makes. */
export class Table {
  readonly record: TableRecord;
  readonly name: string;
  readonly key: Key;
  /** The prefix of the storage keys of its items. */
  readonly prefix: string;
  readonly indexes: ReadonlyMap<string, Index>;
  readonly expiry: Expiry | undefined;

  constructor(record: TableRecord) {
    const { description } = record;
    this.record = record;
    this.name = description.TableName;
    this.key = keyOf(description, description.KeySchema);
    this.prefix = `i/${record.id}/`;
    this.indexes = new Map(
      description.GlobalSecondaryIndexes?.map((index) => [
        index.IndexName,
        new Index(this, index, record.indexIds[index.IndexName]!),
      ]),
    );
    this.expiry = record.timeToLive && new Expiry(this, record.timeToLive.attribute, record.timeToLive.id);
  }

  /** The storage key of an item, whose key attributes must be present and of the right types. */
  itemKey(item: Item): string {
    return this.prefix + encodeKey(item, this.key);
  }

  /** The key attributes of an item. */
  keyAttributes(item: Item): Item {
    return Object.fromEntries(this.key.map(({ name }) => [name, item[name]!]));
  }

  /** Adds the changes of an item's write to `changes`, with its index rows. @returns the capacity it consumes */
  change(key: string, before: Item | undefined, after: Item | undefined, changes: Changes): WriteUnits {
    const beforeSize = before ? itemSize(before) : 0;
    const afterSize = after ? itemSize(after) : 0;
    const units: WriteUnits = { table: writeUnits(Math.max(beforeSize, afterSize)), indexes: {} };
    const text = after && JSON.stringify(after);
    if (text !== undefined) changes.set(key, text);
    else if (before) changes.set(key, null);
    for (const index of this.indexes.values()) {
      const oldRow = before && index.row(before, key);
      const newRow = after && index.row(after, key, text);
      if (oldRow && newRow && oldRow.key === newRow.key) {
        if (oldRow.value === newRow.value) continue;
        changes.set(newRow.key, newRow.value);
        units.indexes[index.name] = writeUnits(Math.max(oldRow.size, newRow.size));
        continue;
      }
      if (oldRow) changes.set(oldRow.key, null);
      if (newRow) changes.set(newRow.key, newRow.value);
      if (oldRow || newRow) {
        units.indexes[index.name] =
          (oldRow ? writeUnits(oldRow.size) : 0) + (newRow ? writeUnits(newRow.size) : 0);
      }
    }
    this.expiry?.change(key, before, after, changes);
    return units;
  }

  /** @throws DynamoError when the attributes are not exactly the table's key */
  checkKey(key: Item): void {
    if (Object.keys(key).length !== this.key.length) throw keyMismatch();
    this.key.forEach((attribute, position) => {
      const value = key[attribute.name];
      if (!value || value[attribute.type] === undefined) throw keyMismatch();
      checkKeyValue(attribute, value, position);
    });
  }

  /** @throws DynamoError when the item lacks its key, or a key attribute of an index has the wrong type */
  checkItem(item: Item): void {
    this.key.forEach((attribute, position) => {
      const value = item[attribute.name];
      if (!value) throw invalidValue(`Missing the key ${attribute.name} in the item`);
      if (value[attribute.type] === undefined) {
        const actual = Object.keys(value)[0];
        throw invalidValue(
          `Type mismatch for key ${attribute.name} expected: ${attribute.type} actual: ${actual}`,
        );
      }
      checkKeyValue(attribute, value, position);
    });
    for (const index of this.indexes.values()) index.checkItem(item);
  }
}

/** A global secondary index. */
export class Index {
  readonly name: string;
  readonly key: Key;
  readonly prefix: string;
  readonly description: IndexDescription;
  /** The attributes its rows contain; undefined for all. */
  readonly projected: ReadonlySet<string> | undefined;

  constructor(table: Table, description: IndexDescription, id: string) {
    this.name = description.IndexName;
    this.description = description;
    this.key = keyOf(table.record.description, description.KeySchema);
    this.prefix = `x/${id}/`;
    const { ProjectionType, NonKeyAttributes = [] } = description.Projection;
    if (ProjectionType !== 'ALL') {
      const keys = [...this.key, ...table.key].map(({ name }) => name);
      this.projected = new Set([...keys, ...NonKeyAttributes]);
    }
  }

  /**
   * The row of an item, if it has all of the index's key attributes (indexes are sparse).
   * @param itemKey makes the row's own key unique
   * @param text the item's JSON, if it is known
   */
  row(item: Item, itemKey: string, text?: string): IndexRow | undefined {
    for (const { name, type } of this.key) if (item[name]?.[type] === undefined) return undefined;
    const key = this.prefix + encodeKey(item, this.key) + itemKey.slice(itemKey.indexOf('/', 2) + 1);
    if (!this.projected) return { key, value: text ?? JSON.stringify(item), size: itemSize(item) };
    const part: Item = {};
    for (const name of this.projected) if (item[name] !== undefined) part[name] = item[name];
    return { key, value: JSON.stringify(part), size: itemSize(part) };
  }

  checkItem(item: Item): void {
    this.key.forEach((attribute, position) => {
      const value = item[attribute.name];
      if (!value) return;
      if (value[attribute.type] === undefined) {
        const actual = Object.keys(value)[0];
        throw invalidValue(
          `Type mismatch for Index Key ${attribute.name} Expected: ${attribute.type} Actual: ${actual} IndexName: ${this.name}`,
        );
      }
      if (value[attribute.type] === '') {
        const what = attribute.type === 'S' ? 'string' : 'binary';
        throw invalid(
          'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
            `The AttributeValue for a key attribute cannot contain an empty ${what} value. IndexName: ${this.name}, IndexKey: ${attribute.name}`,
        );
      }
      checkKeyValue(attribute, value, position);
    });
  }
}

/** The rows by which expired items are found: ordered by time to live. */
export class Expiry {
  readonly attribute: string;
  readonly prefix: string;
  readonly #itemPrefix: number;

  constructor(table: Table, attribute: string, id: string) {
    this.attribute = attribute;
    this.prefix = `e/${id}/`;
    this.#itemPrefix = table.prefix.length;
  }

  change(itemKey: string, before: Item | undefined, after: Item | undefined, changes: Changes): void {
    const oldRow = before && this.rowKey(before, itemKey);
    const newRow = after && this.rowKey(after, itemKey);
    if (oldRow === newRow) return;
    if (oldRow) changes.set(oldRow, null);
    if (newRow) changes.set(newRow, itemKey);
  }

  rowKey(item: Item, itemKey: string): string | undefined {
    const seconds = item[this.attribute]?.N;
    if (seconds === undefined) return undefined;
    return `${this.prefix}${keyEncoding.toRangeStr(seconds, 'N')}/${itemKey.slice(this.#itemPrefix)}`;
  }
}

/** The part of a storage key that encodes an item's key: sorts by partition, then by range key. */
export function encodeKey(item: Item, key: Key): string {
  const [hash, range] = key;
  const partition = encodePartition(item[hash.name]!, hash);
  return range ? `${partition}${encodeValue(item[range.name]!, range)}/` : partition;
}

export function encodePartition(value: Attribute, hash: KeyAttribute): string {
  return `${keyEncoding.hashPrefix(value[hash.type] as string, hash.type)}/${encodeValue(value, hash)}/`;
}

export function encodeValue(value: Attribute, { type }: KeyAttribute): string {
  return keyEncoding.toRangeStr(value[type] as string, type);
}

/** Write units for a number of bytes: one per started KB, at least one. */
export const writeUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / 1024));

function keyOf(description: TableDescription, schema: TableDescription['KeySchema']): Key {
  return schema.map(({ AttributeName: name }) => {
    const definition = description.AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)!;
    return { name, type: definition.AttributeType };
  }) as unknown as Key;
}

const keyMismatch = () => invalid('The provided key element does not match the schema');
const invalidValue = (what: string) => invalid(`One or more parameter values were invalid: ${what}`);

/** @param position 0 for the hash key (up to 2048 bytes), 1 for the range key (up to 1024) */
export function checkKeyValue({ name, type }: KeyAttribute, value: Attribute, position: number): void {
  if (type === 'N') return;
  const bytes = Buffer.byteLength(value[type]!, type === 'B' ? 'base64' : 'utf8');
  if (bytes === 0) {
    const what = type === 'S' ? 'string' : 'binary';
    throw invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${what} value. Key: ${name}`,
    );
  }
  if (position === 0 && bytes > 2048) {
    throw invalidValue('Size of hashkey has exceeded the maximum size limit of2048 bytes');
  }
  if (position === 1 && bytes > 1024) {
    throw invalidValue('Aggregated size of all range keys has exceeded the size limit of 1024 bytes');
  }
}
