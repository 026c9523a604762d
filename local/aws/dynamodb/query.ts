import { type Attribute, compareScalars, type Item, itemSize, project } from './attribute.ts';
import { readUnits } from './capacity.ts';
import { under } from './catalog.ts';
import { type Condition, holds } from './condition.ts';
import { type Expressions, type KeyCondition, validate } from './dynalite.ts';
import { invalid } from './errors.ts';
import type { KeyRange } from './key-range.ts';
import type { Database, Operation } from './operation.ts';
import {
  checkKeyValue,
  encodeKey,
  encodePartition,
  encodeValue,
  type Index,
  type Key,
  type KeyAttribute,
  type Table,
} from './table.ts';

/** Bytes of items after which a page ends, regardless of its limit. */
const MAX_PAGE_BYTES = 1024 * 1024;

interface PageRequest extends Expressions {
  TableName: string;
  IndexName?: string;
  Select?: 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'SPECIFIC_ATTRIBUTES' | 'COUNT';
  Limit?: number;
  ExclusiveStartKey?: Item;
  ConsistentRead?: boolean;
  ScanIndexForward?: boolean;
  Segment?: number;
  TotalSegments?: number;
  ReturnConsumedCapacity?: string;
}

/** What a query reads: a table, or one of its indexes. */
interface Source {
  table: Table;
  index: Index | undefined;
  key: Key;
  prefix: string;
}

/** Query of a table or a global index. */
export async function query(database: Database, operation: Operation): Promise<unknown> {
  const request = validate<PageRequest>('Query', operation.input);
  const source = sourceOf(database, request);
  const [hash, range] = source.key;
  const conditions = request.KeyConditions!;
  const partition = conditions[hash.name];
  if (!partition) throw invalid(`Query condition missed key schema element: ${hash.name}`);
  if (partition.ComparisonOperator !== 'EQ') throw invalid('Query key condition not supported');
  const rangeCondition = range && conditions[range.name];
  if (Object.keys(conditions).length > (rangeCondition ? 2 : 1)) {
    throw invalid(
      range
        ? `Query condition missed key schema element: ${range.name}`
        : 'Query key condition not supported',
    );
  }
  checkCondition(hash, partition, 0);
  if (rangeCondition) checkCondition(range, rangeCondition, 1);
  const filterHeads = request._filter?.pathHeads ?? {};
  for (const { name } of source.key) {
    if (filterHeads[name]) {
      throw invalid(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`,
      );
    }
  }
  const value = partition.AttributeValueList[0]!;
  operation.touchPartition(source.table, value[hash.type], request.IndexName);
  const rows = queryRange(source, value, rangeCondition, request.ScanIndexForward === false);
  const start = request.ExclusiveStartKey;
  if (start) {
    checkStart(source, start);
    const key = rowKey(source, start);
    if (!key.startsWith(source.prefix + encodePartition(value, hash))) {
      throw invalid('The provided starting key is outside query boundaries based on provided conditions');
    }
    startAfter(rows, key);
  }
  return page(database, operation, request, source, rows);
}

/** Scan of a table or a global index, or of one segment of it. */
export async function scan(database: Database, operation: Operation): Promise<unknown> {
  const request = validate<PageRequest>('Scan', operation.input);
  const source = sourceOf(database, request);
  operation.touchPartition(source.table, undefined, request.IndexName);
  const rows: KeyRange = under(source.prefix);
  const { Segment: segment, TotalSegments: total } = request;
  if (segment !== undefined && total !== undefined) {
    // Storage keys begin with six hexadecimal digits of their partition's hash.
    const boundary = (part: number) =>
      source.prefix +
      Math.ceil((part / total) * 0x1000000)
        .toString(16)
        .padStart(6, '0');
    rows.gte = boundary(segment);
    if (segment + 1 < total) rows.lt = boundary(segment + 1);
  }
  if (request.ExclusiveStartKey) {
    checkStart(source, request.ExclusiveStartKey);
    startAfter(rows, rowKey(source, request.ExclusiveStartKey));
  }
  return page(database, operation, request, source, rows);
}

async function page(
  database: Database,
  operation: Operation,
  request: PageRequest,
  source: Source,
  range: KeyRange,
): Promise<unknown> {
  const { table, index } = source;
  const limit = request.Limit ?? Number.POSITIVE_INFINITY;
  const filter: Condition | undefined = request._filter?.expression;
  const paths = request._projection?.paths;
  const items: Item[] = [];
  let scanned = 0;
  let count = 0;
  let bytes = 0;
  let last: Item | undefined;
  const chunks = index ? database.indexLag.rows(range, limit) : database.storage.rows(range, limit);
  reading: for await (const rows of chunks) {
    for (const [, text] of rows) {
      const item = JSON.parse(text) as Item;
      scanned++;
      bytes += itemSize(item);
      if (!filter || holds(filter, item)) {
        count++;
        if (request.Select !== 'COUNT') items.push(paths ? project(item, paths) : item);
      }
      // As in the service, a page that ends exactly at the last row still has a LastEvaluatedKey.
      if (scanned >= limit || bytes >= MAX_PAGE_BYTES) {
        last = item;
        break reading;
      }
    }
  }
  operation.itemsRead += scanned;
  operation.meter.read(table.name, readUnits(bytes, request.ConsistentRead === true), index?.name);
  const capacity = operation.meter.report(request.ReturnConsumedCapacity)?.[0];
  return {
    ...(request.Select === 'COUNT' ? {} : { Items: items }),
    Count: count,
    ScannedCount: scanned,
    ...(last ? { LastEvaluatedKey: { ...table.keyAttributes(last), ...keyPart(last, source.key) } } : {}),
    ...(capacity ? { ConsumedCapacity: capacity } : {}),
  };
}

function sourceOf(database: Database, request: PageRequest): Source {
  const table = database.catalog.table(request.TableName);
  const name = request.IndexName;
  if (name === undefined) return { table, index: undefined, key: table.key, prefix: table.prefix };
  const index = table.indexes.get(name);
  if (!index) throw invalid(`The table does not have the specified index: ${name}`);
  if (request.ConsistentRead) {
    throw invalid('Consistent reads are not supported on global secondary indexes');
  }
  if (request.Select === 'ALL_ATTRIBUTES' && index.projected) {
    throw invalid(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ' +
        `${name} because its projection type is not ALL`,
    );
  }
  const missing = request._projection?.paths
    .map(([head]) => head as string)
    .filter((head) => index.projected && !index.projected.has(head));
  if (missing?.length) {
    throw invalid(
      `One or more parameter values were invalid: Global secondary index ${name} does not project [${missing.join(', ')}]`,
    );
  }
  return { table, index, key: index.key, prefix: index.prefix };
}

function checkCondition(
  attribute: KeyAttribute,
  { AttributeValueList }: KeyCondition,
  position: number,
): void {
  for (const value of AttributeValueList) {
    if (value[attribute.type] === undefined) {
      throw invalid(
        'One or more parameter values were invalid: Condition parameter type does not match schema type',
      );
    }
  }
  if (position === 0) checkKeyValue(attribute, AttributeValueList[0]!, position);
}

/** The rows that a key condition names. Every row's key is its partition, its range value, `/`, and for an index more. */
function queryRange(
  source: Source,
  partition: Attribute,
  condition: KeyCondition | undefined,
  reverse: boolean,
): KeyRange {
  const [hash, range] = source.key;
  const base = source.prefix + encodePartition(partition, hash);
  if (!condition) return { gte: base, lt: `${base}~`, reverse };
  const [first, second] = condition.AttributeValueList;
  const encoded = base + encodeValue(first!, range!);
  switch (condition.ComparisonOperator) {
    case 'EQ':
      return { gte: `${encoded}/`, lt: `${encoded}/~`, reverse };
    case 'LT':
      return { gte: base, lt: `${encoded}/`, reverse };
    case 'LE':
      return { gte: base, lt: `${encoded}/~`, reverse };
    case 'GT':
      return { gte: `${encoded}/~`, lt: `${base}~`, reverse };
    case 'GE':
      return { gte: `${encoded}/`, lt: `${base}~`, reverse };
    case 'BEGINS_WITH':
      return { gte: encoded, lt: `${encoded}~`, reverse };
    case 'BETWEEN': {
      if (compareScalars(first!, second!) > 0) {
        throw invalid('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
      }
      return { gte: `${encoded}/`, lt: `${base}${encodeValue(second!, range!)}/~`, reverse };
    }
    default:
      throw invalid('Attempted conditional constraint is not an indexable operation');
  }
}

function startAfter(range: KeyRange, key: string): void {
  if (range.reverse) {
    if (range.lt === undefined || key < range.lt) range.lt = key;
  } else if (range.gte === undefined || key >= range.gte) {
    delete range.gte;
    range.gt = key;
  }
}

/** The storage key of the row that a page ended with. */
function rowKey({ table, index, prefix, key }: Source, start: Item): string {
  return prefix + encodeKey(start, key) + (index ? encodeKey(start, table.key) : '');
}

function checkStart({ table, key }: Source, start: Item): void {
  const attributes = new Map([...table.key, ...key].map((attribute) => [attribute.name, attribute]));
  const fits = [...attributes.values()].every(({ name, type }) => start[name]?.[type] !== undefined);
  if (!fits || Object.keys(start).length !== attributes.size) {
    throw invalid('The provided starting key is invalid');
  }
}

function keyPart(item: Item, key: Key): Item {
  return Object.fromEntries(key.map(({ name }) => [name, item[name]!]));
}
