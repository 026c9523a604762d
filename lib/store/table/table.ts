/**
 * The one table behind everything. Reads are strongly consistent unless they say otherwise; every write
 * says what it expects. There is no scan.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { ConditionFailed, StoreUnavailable, TransactionRefused } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { mapLimit } from './map-limit.ts';
import { type CancellationReason, type RetryPolicy, retrying, standardRetries } from './retry.ts';
import type { IndexName } from './schema.ts';
import { fromWire, type WireValue } from './unmarshall.ts';
import {
  type Delete,
  type Item,
  keyOf,
  type Put,
  placeholders,
  type Update,
  updateExpression,
  type Values,
  type Write,
} from './write.ts';

export interface QueryOptions {
  readonly partition: string;
  readonly index?: IndexName;
  /** Name of the sort key attribute when an index is given; it is the index's own name but for `byUser`. */
  readonly prefix?: string;
  /** Inclusive bounds of the sort key. */
  readonly from?: string;
  readonly to?: string;
  readonly reverse?: boolean;
  /** Items read per page, before the filter. */
  readonly limit?: number;
  readonly startKey?: Item;
  /** A filter expression on what is read; it saves the wire, not the reading. */
  readonly where?: string;
  readonly values?: Values;
  /** Only these attributes are returned. */
  readonly only?: readonly string[];
  readonly consistent?: boolean;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** Where to go on; absent at the end. */
  readonly next?: Item;
}

const BATCH = 100;
/** DynamoDB's limit of items in one transaction. */
export const TRANSACTION_ITEMS = 100;
/** Written with every conditional write of one item, so that a writer whose answer was lost knows its own. */
const STAMP = 'w';

export class Table {
  readonly name: string;
  readonly #client: DynamoDBDocumentClient;
  readonly #retries: RetryPolicy;

  constructor(client: DynamoDBDocumentClient, name: string, retries: RetryPolicy = standardRetries) {
    this.#client = client;
    this.name = name;
    this.#retries = retries;
  }

  /** @returns the item, or undefined. */
  async get(key: Key, options: { consistent?: boolean } = {}): Promise<Item | undefined> {
    const command = new GetCommand({
      TableName: this.name,
      Key: onlyKey(key),
      ConsistentRead: options.consistent ?? true,
    });
    const answer = await retrying(this.#retries, () => this.#client.send(command));
    return answer.Item;
  }

  /** @returns what exists of the keys, in their order; undefined where nothing does. */
  async batchGet(
    keys: readonly Key[],
    options: { consistent?: boolean; only?: readonly string[] } = {},
  ): Promise<(Item | undefined)[]> {
    const distinct = new Map(keys.map((key) => [identity(key), onlyKey(key)]));
    const found = new Map<string, Item>();
    const wanted = [...distinct.values()];
    const chunks: Key[][] = [];
    for (let i = 0; i < wanted.length; i += BATCH) chunks.push(wanted.slice(i, i + BATCH));
    await mapLimit(4, chunks, async (chunk) => {
      for (const item of await this.#batch(chunk, options)) found.set(identity(item as Item & Key), item);
    });
    return keys.map((key) => found.get(identity(key)));
  }

  /** What a batch leaves unprocessed is throttled: asked again after a pause, within the same bound. */
  async #batch(chunk: Key[], options: { consistent?: boolean; only?: readonly string[] }): Promise<Item[]> {
    const items: Item[] = [];
    const only = options.only === undefined ? undefined : [...new Set(['pk', 'sk', ...options.only])];
    let keys: Record<string, unknown>[] = chunk.map((key) => ({ ...key }));
    for (let n = 0; keys.length > 0; n++) {
      if (n >= this.#retries.attempts)
        throw new StoreUnavailable(false, new Error(`${keys.length} keys unprocessed`));
      if (n > 0) await sleep(Math.random() * Math.min(this.#retries.cap, this.#retries.base * 2 ** n));
      const projection = only?.map((name) => `#${name}`).join(', ');
      const command = new BatchGetCommand({
        RequestItems: {
          [this.name]: {
            Keys: keys,
            ConsistentRead: options.consistent ?? true,
            ...(projection === undefined
              ? {}
              : { ProjectionExpression: projection, ...placeholders([projection]) }),
          },
        },
      });
      const answer = await retrying(this.#retries, () => this.#client.send(command));
      items.push(...(answer.Responses?.[this.name] ?? []));
      keys = answer.UnprocessedKeys?.[this.name]?.Keys ?? [];
    }
    return items;
  }

  /** One page. An index cannot be read consistently: what it finds is checked against the table. */
  async query(options: QueryOptions): Promise<QueryPage> {
    // DynamoDB refuses BETWEEN with bounds the wrong way round; an empty range is an empty answer.
    if (options.from !== undefined && options.to !== undefined && options.from > options.to)
      return { items: [] };
    const answer = await this.#query(options);
    return answer.LastEvaluatedKey === undefined
      ? { items: answer.Items ?? [] }
      : { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
  }

  /** Every item of a range, page after page. */
  async *queryAll(options: QueryOptions): AsyncGenerator<Item> {
    let startKey = options.startKey;
    do {
      const page = await this.query(startKey === undefined ? options : { ...options, startKey });
      yield* page.items;
      startKey = page.next;
    } while (startKey !== undefined);
  }

  /** Items in a range without transferring them; stops counting above `cap`. @returns undefined above it. */
  async count(options: QueryOptions, cap: number): Promise<number | undefined> {
    let total = 0;
    let startKey: Item | undefined;
    do {
      const some = await this.countSome({ ...options, ...(startKey ? { startKey } : {}) }, cap + 1 - total);
      total += some.count;
      startKey = some.next;
    } while (startKey !== undefined && total <= cap);
    return total > cap ? undefined : total;
  }

  /** The first of them in one request, 1 MB of them at most. */
  async countSome(options: QueryOptions, limit: number): Promise<{ count: number; next?: Item }> {
    if (options.from !== undefined && options.to !== undefined && options.from > options.to)
      return { count: 0 };
    const { Count: count = 0, LastEvaluatedKey: next } = await this.#query({ ...options, limit }, true);
    return next === undefined ? { count } : { count, next };
  }

  #query(options: QueryOptions, countOnly = false) {
    const { index, prefix, from, to } = options;
    const partitionKey = index === undefined ? 'pk' : index === 'byUser' ? 'who' : 'list';
    const sortKey = index === undefined ? 'sk' : index === 'byUser' ? 'what' : index;
    const sort =
      prefix !== undefined
        ? ` AND begins_with(#${sortKey}, :from)`
        : from !== undefined && to !== undefined
          ? ` AND #${sortKey} BETWEEN :from AND :to`
          : from !== undefined
            ? ` AND #${sortKey} >= :from`
            : to !== undefined
              ? ` AND #${sortKey} <= :to`
              : '';
    const condition = `#${partitionKey} = :partition${sort}`;
    const projection = options.only?.map((name) => `#${name}`).join(', ');
    const command = new QueryCommand({
      TableName: this.name,
      ...(index === undefined ? { ConsistentRead: options.consistent ?? true } : { IndexName: index }),
      KeyConditionExpression: condition,
      ...(options.where === undefined ? {} : { FilterExpression: options.where }),
      ...(countOnly
        ? { Select: 'COUNT' as const }
        : projection === undefined
          ? {}
          : { ProjectionExpression: projection }),
      ...placeholders([condition, options.where, countOnly ? undefined : projection], {
        ...options.values,
        partition: options.partition,
        from: prefix ?? from,
        to: prefix === undefined ? to : undefined,
      }),
      ScanIndexForward: !(options.reverse ?? false),
      ...(options.limit === undefined ? {} : { Limit: options.limit }),
      ...(options.startKey === undefined ? {} : { ExclusiveStartKey: options.startKey }),
    });
    return retrying(this.#retries, () => this.#client.send(command));
  }

  /** @throws ConditionFailed with the item that stood there. */
  async put(write: Put): Promise<void> {
    const item = write.if === undefined ? write.put : { ...write.put, [STAMP]: randomUUID() };
    const command = new PutCommand({ TableName: this.name, Item: item, ...condition(write) });
    await this.#one(write, item, () => this.#client.send(command));
  }

  /**
   * @returns the item as it is afterwards.
   * @throws ConditionFailed with the item that stood there.
   */
  async update(write: Update): Promise<Item> {
    const stamp = write.if === undefined ? undefined : { [STAMP]: randomUUID() };
    const stamped = stamp === undefined ? write : { ...write, set: { ...write.set, ...stamp } };
    const { expression, values } = updateExpression(stamped);
    const command = new UpdateCommand({
      TableName: this.name,
      Key: onlyKey(write.update),
      UpdateExpression: expression,
      ...condition(write, expression, values),
      ReturnValues: 'ALL_NEW',
    });
    const answer = await this.#one(write, stamp, () => this.#client.send(command));
    return answer.kind === 'answered' ? (answer.value.Attributes ?? {}) : answer.item;
  }

  /**
   * Nothing remains that could carry a stamp, so a conditional deletion is a transaction of one: its token
   * tells whether a lost answer was ours.
   * @throws ConditionFailed with the item that stood there.
   */
  async delete(write: Delete): Promise<void> {
    if (write.if !== undefined) {
      await this.transact([write]).catch((error: unknown) => {
        if (error instanceof TransactionRefused)
          throw new ConditionFailed(error.refusals[0]?.item, write.reason);
        throw error;
      });
      return;
    }
    const command = new DeleteCommand({ TableName: this.name, Key: onlyKey(write.delete) });
    await retrying(this.#retries, () => this.#client.send(command));
  }

  async #one<T>(
    write: Put | Update,
    stamp: Item | undefined,
    send: () => Promise<T>,
  ): Promise<{ kind: 'answered'; value: T } | { kind: 'found'; item: Item }> {
    return retrying(this.#retries, async (ambiguousBefore) => {
      try {
        return { kind: 'answered', value: await send() } as const;
      } catch (error) {
        if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
        const item = found((error as { Item?: WireItem }).Item);
        if (!ambiguousBefore) throw new ConditionFailed(item, write.reason);
        if (item !== undefined && item[STAMP] === stamp?.[STAMP]) return { kind: 'found', item } as const;
        // An earlier attempt may have been done and overwritten since, or not done at all: nobody can tell.
        throw new StoreUnavailable(true, error);
      }
    });
  }

  /**
   * All of the writes or none. Conflicts, throttling and lost answers are retried under one token, which
   * DynamoDB remembers for ten minutes: a transaction that was done is answered so, and not done twice.
   * @throws TransactionRefused naming every condition that failed.
   */
  async transact(writes: readonly Write[], options: { token?: string } = {}): Promise<void> {
    if (writes.length === 0) return;
    if (writes.length > TRANSACTION_ITEMS)
      throw new RangeError(`a transaction of ${writes.length} items; ${TRANSACTION_ITEMS} is the limit`);
    const command = new TransactWriteCommand({
      ClientRequestToken: options.token ?? randomUUID(),
      TransactItems: writes.map((write) => this.#transactItem(write)),
    });
    await retrying(this.#retries, async () => {
      try {
        await this.#client.send(command);
      } catch (error) {
        throw refused(error, writes) ?? error;
      }
    });
  }

  #transactItem(write: Write): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
    const TableName = this.name;
    if ('put' in write) return { Put: { TableName, Item: write.put, ...condition(write) } };
    if ('delete' in write) return { Delete: { TableName, Key: onlyKey(write.delete), ...condition(write) } };
    if ('check' in write) {
      const check = { ...condition(write), ConditionExpression: write.if };
      return { ConditionCheck: { TableName, Key: onlyKey(write.check), ...check } };
    }
    const { expression, values } = updateExpression(write);
    return {
      Update: {
        TableName,
        Key: onlyKey(write.update),
        UpdateExpression: expression,
        ...condition(write, expression, values),
      },
    };
  }
}

function condition(write: Write, expression?: string, values: Values | undefined = write.values) {
  return {
    ...(write.if === undefined
      ? {}
      : { ConditionExpression: write.if, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
    ...placeholders([write.if, expression], values),
  };
}

/** The conditions that failed, by their labels; undefined when the transaction failed of something else. */
function refused(error: unknown, writes: readonly Write[]): TransactionRefused | undefined {
  if ((error as Error).name !== 'TransactionCanceledException') return undefined;
  const reasons =
    (error as { CancellationReasons?: readonly CancellationReason[] }).CancellationReasons ?? [];
  const refusals = reasons.flatMap((reason, i) => {
    const write = writes[i];
    if (reason.Code !== 'ConditionalCheckFailed' || write === undefined) return [];
    return [
      { reason: write.reason ?? identity(keyOf(write)), item: found(reason.Item as WireItem | undefined) },
    ];
  });
  return refusals.length === 0 ? undefined : new TransactionRefused(refusals);
}

type WireItem = Readonly<Record<string, WireValue>>;
const found = (item: WireItem | undefined): Item | undefined =>
  item === undefined || Object.keys(item).length === 0 ? undefined : fromWire(item);

const onlyKey = ({ pk, sk }: Key): Key & Record<string, string> => ({ pk, sk });
const identity = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
