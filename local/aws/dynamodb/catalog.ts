import type { Item } from './attribute.ts';
import { validate } from './dynalite.ts';
import { DynamoError, invalid, namedTableNotFound, tableNotFound } from './errors.ts';
import type { Changes, Storage } from './storage.ts';
import { type IndexDescription, newId, Table, type TableDescription, type TableRecord } from './table.ts';

type Input = Record<string, unknown>;

/**
 * The tables, and the operations on them. All take effect at once: a table or an index is ACTIVE when the call that
 * creates it returns.
 */
export class Catalog {
  readonly #storage: Storage;
  readonly #tables = new Map<string, Table>();

  private constructor(storage: Storage) {
    this.#storage = storage;
  }

  static async open(storage: Storage): Promise<Catalog> {
    const catalog = new Catalog(storage);
    for await (const rows of storage.rows({ gte: 't/', lt: 't0' })) {
      for (const [, value] of rows) {
        const table = new Table(JSON.parse(value) as TableRecord);
        catalog.#tables.set(table.name, table);
      }
    }
    for (const table of [...catalog.#tables.values()]) {
      await catalog.#backfill(table);
      await catalog.#fillExpiry(catalog.table(table.name));
    }
    return catalog;
  }

  /** @throws DynamoError ResourceNotFoundException */
  table(name: string): Table {
    const table = this.#tables.get(name);
    if (!table) throw tableNotFound();
    return table;
  }

  tables(): Iterable<Table> {
    return this.#tables.values();
  }

  async createTable(input: Input): Promise<unknown> {
    const description = validate<TableDescription>('CreateTable', input);
    const name = description.TableName;
    if (this.#tables.has(name)) {
      throw new DynamoError('ResourceInUseException', `Table already exists: ${name}`);
    }
    if (description['LocalSecondaryIndexes']) {
      throw invalid('The embedded DynamoDB does not support local secondary indexes');
    }
    const indexes = description.GlobalSecondaryIndexes ?? [];
    this.#save({
      id: newId(),
      indexIds: Object.fromEntries(indexes.map(({ IndexName }) => [IndexName, newId()])),
      description: describeNew(description),
      pointInTimeRecovery: false,
    });
    return { TableDescription: this.table(name).record.description };
  }

  /** Applies changes of indexes; accepts capacity and other settings without effect. */
  async updateTable(input: Input): Promise<unknown> {
    const record = structuredClone(this.#named(input).record);
    const { description, indexIds } = record;
    const definitions = input['AttributeDefinitions'] as TableDescription['AttributeDefinitions'] | undefined;
    const known = new Set(description.AttributeDefinitions.map(({ AttributeName }) => AttributeName));
    description.AttributeDefinitions.push(
      ...(definitions ?? []).filter(({ AttributeName }) => !known.has(AttributeName)),
    );
    const updates = (input['GlobalSecondaryIndexUpdates'] ?? []) as {
      Create?: IndexDescription;
      Delete?: { IndexName: string };
    }[];
    const indexes = new Map(description.GlobalSecondaryIndexes?.map((index) => [index.IndexName, index]));
    const dropped: string[] = [];
    for (const { Create, Delete } of updates) {
      if (Delete) {
        if (!indexes.delete(Delete.IndexName)) throw tableNotFound();
        dropped.push(`x/${indexIds[Delete.IndexName]}/`);
        delete indexIds[Delete.IndexName];
      }
      if (Create) {
        if (indexes.has(Create.IndexName)) {
          throw invalid(`Attempting to create an index which already exists: ${Create.IndexName}`);
        }
        indexes.set(Create.IndexName, { ...describeIndex(description, Create), IndexStatus: 'CREATING' });
        indexIds[Create.IndexName] = newId();
      }
    }
    if (indexes.size) description.GlobalSecondaryIndexes = [...indexes.values()];
    else delete description.GlobalSecondaryIndexes;
    validate('CreateTable', creationOf(description));
    this.#save(record);
    await this.#backfill(this.table(description.TableName));
    for (const prefix of dropped) await this.#storage.clear(under(prefix));
    return { TableDescription: this.table(description.TableName).record.description };
  }

  async deleteTable(input: Input): Promise<unknown> {
    const { record, name, prefix } = this.#named(input);
    this.#tables.delete(name);
    this.#storage.stage(new Map([[`t/${name}`, null]]));
    const indexes = Object.values(record.indexIds).map((id) => `x/${id}/`);
    const expiry = record.timeToLive ? [`e/${record.timeToLive.id}/`] : [];
    for (const rows of [prefix, ...indexes, ...expiry]) await this.#storage.clear(under(rows));
    return { TableDescription: { ...record.description, TableStatus: 'DELETING' } };
  }

  async describeTable(input: Input): Promise<unknown> {
    return { Table: this.#named(input).record.description };
  }

  async listTables(input: Input): Promise<unknown> {
    const { ExclusiveStartTableName: after = '', Limit = 100 } = input as {
      ExclusiveStartTableName?: string;
      Limit?: number;
    };
    const names = [...this.#tables.keys()].sort().filter((name) => name > after);
    const page = names.slice(0, Limit);
    return {
      TableNames: page,
      ...(page.length < names.length ? { LastEvaluatedTableName: page.at(-1) } : {}),
    };
  }

  async updateTimeToLive(input: Input): Promise<unknown> {
    const record = structuredClone(this.#named(input).record);
    const specification = input['TimeToLiveSpecification'] as { Enabled: boolean; AttributeName: string };
    if (!specification?.AttributeName) {
      throw invalid('1 validation error detected: TimeToLiveSpecification must name an attribute');
    }
    const { Enabled: enabled, AttributeName: attribute } = specification;
    if (enabled === (record.timeToLive !== undefined)) {
      throw invalid(`TimeToLive is already ${enabled ? 'enabled' : 'disabled'}`);
    }
    const rows = record.timeToLive && `e/${record.timeToLive.id}/`;
    if (enabled) record.timeToLive = { attribute, id: newId() };
    else delete record.timeToLive;
    this.#save(record);
    if (rows) await this.#storage.clear(under(rows));
    await this.#fillExpiry(this.table(record.description.TableName));
    return { TimeToLiveSpecification: specification };
  }

  async describeTimeToLive(input: Input): Promise<unknown> {
    const { timeToLive } = this.#named(input).record;
    const status = timeToLive
      ? { TimeToLiveStatus: 'ENABLED', AttributeName: timeToLive.attribute }
      : { TimeToLiveStatus: 'DISABLED' };
    return { TimeToLiveDescription: status };
  }

  async updateContinuousBackups(input: Input): Promise<unknown> {
    const record = structuredClone(this.#named(input).record);
    const specification = input['PointInTimeRecoverySpecification'] as
      | { PointInTimeRecoveryEnabled?: boolean }
      | undefined;
    record.pointInTimeRecovery = specification?.PointInTimeRecoveryEnabled === true;
    this.#save(record);
    return this.describeContinuousBackups(input);
  }

  async describeContinuousBackups(input: Input): Promise<unknown> {
    const { pointInTimeRecovery } = this.#named(input).record;
    const status = pointInTimeRecovery ? 'ENABLED' : 'DISABLED';
    return {
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: status },
      },
    };
  }

  async listTagsOfResource(): Promise<unknown> {
    return { Tags: [] };
  }

  #named(input: Input): Table {
    const name = input['TableName'];
    if (typeof name !== 'string') {
      throw invalid("The parameter 'TableName' is required but was not present in the request");
    }
    const table = this.#tables.get(name);
    if (!table) throw namedTableNotFound(name);
    return table;
  }

  /** Stores a description. Every later write follows it. */
  #save(record: TableRecord): void {
    const table = new Table(record);
    this.#storage.stage(new Map([[`t/${table.name}`, JSON.stringify(record)]]));
    this.#tables.set(table.name, table);
  }

  /**
   * Adds the existing items to indexes that are still being created. Concurrent writes maintain the rows of their own
   * items, and each item is read and its row staged in one turn, so neither overwrites the other. Starts over at the next
   * start if the process ends first.
   */
  async #backfill(table: Table): Promise<void> {
    const creating = [...table.indexes.values()].filter(
      (index) => index.description.IndexStatus === 'CREATING',
    );
    if (!creating.length) return;
    await this.#eachItem(table, (item, key, changes) => {
      for (const index of creating) {
        const row = index.row(item, key);
        if (row) changes.set(row.key, row.value);
      }
    });
    const record = structuredClone(table.record);
    for (const index of record.description.GlobalSecondaryIndexes ?? []) index.IndexStatus = 'ACTIVE';
    this.#save(record);
  }

  /** Adds the existing items to the rows by which they expire, when time to live was enabled. */
  async #fillExpiry(table: Table): Promise<void> {
    const { expiry } = table;
    if (!expiry || table.record.timeToLive!.filled) return;
    await this.#eachItem(table, (item, key, changes) => expiry.change(key, undefined, item, changes));
    const record = structuredClone(table.record);
    record.timeToLive!.filled = true;
    this.#save(record);
  }

  async #eachItem(table: Table, visit: (item: Item, key: string, changes: Changes) => void): Promise<void> {
    await this.#storage.flushed();
    for await (const rows of this.#storage.rows(under(table.prefix))) {
      const changes: Changes = new Map();
      for (const [key] of rows) {
        const text = this.#storage.peek(key);
        if (text !== undefined) visit(JSON.parse(text) as Item, key, changes);
      }
      this.#storage.stage(changes);
      await this.#storage.flushed();
    }
  }
}

/** The range of all keys that start with a prefix ending in `/`. */
export const under = (prefix: string) => ({ gte: prefix, lt: `${prefix.slice(0, -1)}0` });

const ARN = 'arn:aws:dynamodb:local:000000000000:table/';

function describeNew(request: TableDescription): TableDescription {
  const { BillingMode, GlobalSecondaryIndexes, ...rest } = request as TableDescription & {
    BillingMode?: string;
  };
  const description: TableDescription = {
    ...rest,
    TableArn: ARN + request.TableName,
    TableId: newId(),
    TableStatus: 'ACTIVE',
    CreationDateTime: Date.now() / 1000,
    ItemCount: 0,
    TableSizeBytes: 0,
    ...(BillingMode === 'PAY_PER_REQUEST' ? { BillingModeSummary: { BillingMode } } : {}),
  };
  if (GlobalSecondaryIndexes) {
    description.GlobalSecondaryIndexes = GlobalSecondaryIndexes.map((index) => ({
      ...describeIndex(request, index),
      IndexStatus: 'ACTIVE',
    }));
  }
  return description;
}

function describeIndex(table: TableDescription, index: IndexDescription): IndexDescription {
  return {
    ...index,
    IndexArn: `${ARN}${table.TableName}/index/${index.IndexName}`,
    IndexSizeBytes: 0,
    ItemCount: 0,
  };
}

/** The request that would create a described table: its check covers the indexes too. */
function creationOf(description: TableDescription): Input {
  const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = structuredClone(description);
  return {
    TableName,
    AttributeDefinitions,
    KeySchema,
    BillingMode: 'PAY_PER_REQUEST',
    ...(GlobalSecondaryIndexes
      ? { GlobalSecondaryIndexes: GlobalSecondaryIndexes.map((index) => indexRequest(index)) }
      : {}),
  };
}

function indexRequest({ IndexName, KeySchema, Projection }: IndexDescription) {
  return { IndexName, KeySchema, Projection };
}
