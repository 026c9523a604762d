import { batchGetItem, batchWriteItem } from './batch.ts';
import { Catalog } from './catalog.ts';
import { DynamoError } from './errors.ts';
import { expireItems } from './expiry.ts';
import { ConnectionLost, DynamoFaults, throwInjected } from './faults.ts';
import { IndexLag } from './index-lag.ts';
import { getItem } from './item-read.ts';
import { writeItem } from './item-write.ts';
import { type Database, type Input, Operation, type OperationRecord } from './operation.ts';
import { query, scan } from './query.ts';
import { Storage } from './storage.ts';
import { deleteExpiredTokens, transactGetItems, transactWriteItems } from './transaction.ts';

/** An operation's answer: the status and the members of its JSON body. */
export interface Answer {
  status: number;
  body: unknown;
}

type Action = (database: Database, operation: Operation) => unknown;

/** Writes decide and stage in one turn of the event loop. They are answered when all they read and wrote is on disk. */
const WRITES: Readonly<Record<string, Action>> = {
  PutItem: writeItem,
  UpdateItem: writeItem,
  DeleteItem: writeItem,
  BatchWriteItem: batchWriteItem,
  TransactWriteItems: transactWriteItems,
};

const READS: Readonly<Record<string, Action>> = {
  GetItem: getItem,
  BatchGetItem: batchGetItem,
  TransactGetItems: transactGetItems,
  Query: query,
  Scan: scan,
};

const TABLES: Readonly<Record<string, (catalog: Catalog, input: Input) => Promise<unknown>>> = {
  CreateTable: (catalog, input) => catalog.createTable(input),
  UpdateTable: (catalog, input) => catalog.updateTable(input),
  DeleteTable: (catalog, input) => catalog.deleteTable(input),
  DescribeTable: (catalog, input) => catalog.describeTable(input),
  ListTables: (catalog, input) => catalog.listTables(input),
  UpdateTimeToLive: (catalog, input) => catalog.updateTimeToLive(input),
  DescribeTimeToLive: (catalog, input) => catalog.describeTimeToLive(input),
  UpdateContinuousBackups: (catalog, input) => catalog.updateContinuousBackups(input),
  DescribeContinuousBackups: (catalog, input) => catalog.describeContinuousBackups(input),
  ListTagsOfResource: (catalog) => catalog.listTagsOfResource(),
};

/** DynamoDB's operations over one data directory. */
export class Engine {
  readonly faults: DynamoFaults;
  onOperation: ((record: OperationRecord) => void) | undefined;
  onError: ((error: unknown) => void) | undefined;
  readonly #database: Database;

  private constructor(database: Database, faults: DynamoFaults) {
    this.#database = database;
    this.faults = faults;
  }

  static async open(path: string | undefined): Promise<Engine> {
    const faults = new DynamoFaults();
    const storage = await Storage.open(path);
    const catalog = await Catalog.open(storage);
    return new Engine({ storage, catalog, indexLag: new IndexLag(storage, faults) }, faults);
  }

  /**
   * Runs one request.
   * @param input its JSON body, which is modified
   * @throws ConnectionLost when a fault requires it. Errors of the service are answers, not exceptions.
   */
  async execute(name: string, input: Input): Promise<Answer> {
    const request = { operation: name, input };
    const fault = this.faults.take(request);
    const operation = new Operation(name, input, fault);
    let failure: string | undefined;
    try {
      if (fault.delayMs) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
      throwInjected(fault, request);
      const body = await this.#run(operation);
      if (fault.loseAnswer) throw new ConnectionLost();
      return { status: 200, body };
    } catch (error) {
      failure = error instanceof Error ? error.name : 'Error';
      if (error instanceof ConnectionLost) throw error;
      if (error instanceof DynamoError) return { status: error.status, body: error.body() };
      throw error;
    } finally {
      this.onOperation?.(operation.record(failure));
    }
  }

  /**
   * Deletes the items whose time to live has passed.
   * @returns how many
   */
  async expire(now: Date): Promise<number> {
    await deleteExpiredTokens(this.#database.storage, now.getTime());
    return expireItems(this.#database, now);
  }

  damaged(): AsyncGenerator<string> {
    return this.#database.storage.damaged();
  }

  reopen(): Promise<void> {
    return this.#database.storage.reopen();
  }

  close(): Promise<void> {
    return this.#database.storage.close();
  }

  async #run(operation: Operation): Promise<unknown> {
    const { storage, catalog } = this.#database;
    const write = WRITES[operation.name];
    if (write) {
      // A failed condition too may depend on staged changes that are not on disk yet: it waits like a success.
      try {
        return write(this.#database, operation);
      } finally {
        await storage.flushed();
      }
    }
    const read = READS[operation.name];
    if (read) return await read(this.#database, operation);
    const tables = TABLES[operation.name];
    if (!tables) throw new DynamoError('UnknownOperationException', `Unknown operation: ${operation.name}`);
    const answer = await tables(catalog, operation.input);
    await storage.flushed();
    return answer;
  }
}
