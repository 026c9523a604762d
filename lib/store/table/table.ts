/**
 * The single DynamoDB table. Reads are strongly consistent unless stated otherwise; writes carry their conditions.
 * There is no scan.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionFailed, StoreUnavailable, TransactionRefused } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { mapLimit } from './map-limit.ts';
import { forgetRows, keepRow, knownRow } from './read-once.ts';
import { type CancellationReason, type RetryPolicy, retrying, standardRetries } from './retry.ts';
import type { IndexName } from './schema.ts';
import type { Answer, TableClient, WriteRequest } from './table-client.ts';
import { fromWire, toWire, type WireItem } from './wire.ts';
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
  /** The start of the sort key. An index's sort key attribute has the index's name, except that of `byUser`. */
  readonly prefix?: string;
  /** Inclusive bounds of the sort key. */
  readonly from?: string;
  readonly to?: string;
  readonly reverse?: boolean;
  /** Items read per page, before the filter. */
  readonly limit?: number;
  readonly startKey?: Item;
  /** A filter expression. It reduces what is transferred, not what is read and paid for. */
  readonly where?: string;
  readonly values?: Values;
  /** Only these attributes are returned; `a.b`: of the map `a` that of the name `b`. */
  readonly only?: readonly string[];
  readonly consistent?: boolean;
}

export interface BatchOptions {
  readonly consistent?: boolean;
  /** Only these attributes are returned, each as in {@link QueryOptions.only}. */
  readonly only?: readonly string[];
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** `startKey` of the next page; absent at the end. */
  readonly next?: Item;
}

const projectionOf = (names: readonly string[]): string =>
  names.map((name) => name.replace(/[^.]+/g, '#$&')).join(', ');

const BATCH_SIZE = 100;
/** DynamoDB's maximum number of writes in one batch. */
const PUTS_IN_BATCH = 25;
/** DynamoDB's maximum number of items in one transaction. */
export const TRANSACTION_ITEMS = 100;
/** Attribute of every conditional write of one item, by which a writer recognises its write after a lost response. */
const STAMP = 'w';

export class Table {
  readonly name: string;
  readonly #client: Pick<TableClient, 'call'>;
  readonly #retries: RetryPolicy;

  constructor(client: Pick<TableClient, 'call'>, name: string, retries: RetryPolicy = standardRetries) {
    this.#client = client;
    this.name = name;
    this.#retries = retries;
  }

  /** @returns the item, or undefined. */
  async get(key: Key, options: { consistent?: boolean } = {}): Promise<Item | undefined> {
    const known = knownRow(key);
    if (known !== undefined) return known.item;
    const input = { TableName: this.name, Key: wireKey(key), ConsistentRead: options.consistent ?? true };
    const { Item } = await retrying(this.#retries, () => this.#client.call('GetItem', input));
    const item = Item && fromWire(Item);
    if (options.consistent !== false) keepRow(key, item);
    return item;
  }

  /** @returns the items, in the order of the keys; undefined where there is none. */
  async batchGet(keys: readonly Key[], options: BatchOptions = {}): Promise<(Item | undefined)[]> {
    const distinct = new Map(keys.map((key) => [identity(key), onlyKey(key)]));
    const found = new Map<string, Item | undefined>();
    const missing: Key[] = [];
    for (const [name, key] of distinct) {
      const known = knownRow(key);
      if (known === undefined) missing.push(key);
      else found.set(name, known.item);
    }
    const chunks: Key[][] = [];
    for (let i = 0; i < missing.length; i += BATCH_SIZE) chunks.push(missing.slice(i, i + BATCH_SIZE));
    await mapLimit(4, chunks, async (chunk) => {
      for (const item of await this.#batch(chunk, options)) found.set(identity(item as Item & Key), item);
      if (options.consistent !== false && options.only === undefined)
        for (const key of chunk) keepRow(key, found.get(identity(key)));
    });
    return keys.map((key) => found.get(identity(key)));
  }

  async #batch(chunk: Key[], options: BatchOptions): Promise<Item[]> {
    const items: Item[] = [];
    const only = options.only === undefined ? undefined : [...new Set(['pk', 'sk', ...options.only])];
    const projection = only && projectionOf(only);
    await this.#untilProcessed(chunk.map(wireKey), async (keys) => {
      const input = {
        RequestItems: {
          [this.name]: {
            Keys: keys,
            ConsistentRead: options.consistent ?? true,
            ...(projection === undefined
              ? {}
              : { ProjectionExpression: projection, ...placeholders([projection]) }),
          },
        },
      };
      const answer = await retrying(this.#retries, () => this.#client.call('BatchGetItem', input));
      for (const item of answer.Responses?.[this.name] ?? []) items.push(fromWire(item));
      return answer.UnprocessedKeys?.[this.name]?.Keys ?? [];
    });
    return items;
  }

  /** What a batch leaves unprocessed was throttled: it is retried with backoff, up to the same limit. */
  async #untilProcessed<T>(
    all: readonly T[],
    send: (left: readonly T[]) => Promise<readonly T[]>,
  ): Promise<void> {
    const { attempts, base, cap } = this.#retries;
    let left = all;
    for (let n = 0; left.length > 0; n++) {
      if (n >= attempts) throw new StoreUnavailable(false, new Error(`${left.length} unprocessed`));
      if (n > 0) await sleep(Math.random() * Math.min(cap, base * 2 ** n));
      left = await send(left);
    }
  }

  /** Reads one page. Indexes are eventually consistent: check what they find against the table. */
  async query(options: QueryOptions): Promise<QueryPage> {
    // DynamoDB rejects BETWEEN with swapped bounds; here that is an empty range.
    if (options.from !== undefined && options.to !== undefined && options.from > options.to)
      return { items: [] };
    const { Items: found = [], LastEvaluatedKey: next } = await this.#query(options);
    const items = found.map(fromWire);
    return next === undefined ? { items } : { items, next: fromWire(next) };
  }

  /** Yields every item of a range, page by page. */
  async *queryAll(options: QueryOptions): AsyncGenerator<Item> {
    let startKey = options.startKey;
    do {
      const page = await this.query(startKey === undefined ? options : { ...options, startKey });
      yield* page.items;
      startKey = page.next;
    } while (startKey !== undefined);
  }

  /** Counts the items of a range without transferring them. @returns undefined above `cap`. */
  async count(options: QueryOptions, cap: number): Promise<number | undefined> {
    let total = 0;
    let startKey: Item | undefined;
    do {
      const page = await this.countPage({ ...options, ...(startKey ? { startKey } : {}) }, cap + 1 - total);
      total += page.count;
      startKey = page.next;
    } while (startKey !== undefined && total <= cap);
    return total > cap ? undefined : total;
  }

  /** Counts up to `limit` items, and at most 1 MB of them, in one request. */
  async countPage(options: QueryOptions, limit: number): Promise<{ count: number; next?: Item }> {
    if (options.from !== undefined && options.to !== undefined && options.from > options.to)
      return { count: 0 };
    const { Count: count = 0, LastEvaluatedKey: next } = await this.#query({ ...options, limit }, true);
    return next === undefined ? { count } : { count, next: fromWire(next) };
  }

  #query(options: QueryOptions, countOnly = false): Promise<Answer> {
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
    const projection = options.only && projectionOf(options.only);
    const input = {
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
      ...(options.startKey === undefined ? {} : { ExclusiveStartKey: toWire(options.startKey) }),
    };
    return retrying(this.#retries, () => this.#client.call('Query', input));
  }

  /** @throws ConditionFailed with the item found there. */
  async put(write: Put): Promise<void> {
    forgetRows(write.put);
    const item = write.if === undefined ? write.put : { ...write.put, [STAMP]: randomUUID() };
    const input = { TableName: this.name, Item: toWire(item), ...condition(write) };
    await this.#one(write, item, () => this.#client.call('PutItem', input));
  }

  /** Puts items without conditions, each by itself: where it fails, some of them may be there. */
  async putAll(items: readonly (Item & Key)[]): Promise<void> {
    for (const item of items) forgetRows(item);
    // A batch takes one write for each key.
    const puts = [...new Map(items.map((item) => [identity(item), item])).values()];
    const chunks: (Item & Key)[][] = [];
    for (let i = 0; i < puts.length; i += PUTS_IN_BATCH) chunks.push(puts.slice(i, i + PUTS_IN_BATCH));
    await mapLimit(4, chunks, (chunk) =>
      this.#untilProcessed(
        chunk.map((item): WriteRequest => ({ PutRequest: { Item: toWire(item) } })),
        async (requests) => {
          const input = { RequestItems: { [this.name]: requests } };
          const answer = await retrying(this.#retries, () => this.#client.call('BatchWriteItem', input));
          return answer.UnprocessedItems?.[this.name] ?? [];
        },
      ),
    );
  }

  /**
   * @returns the item after the update.
   * @throws ConditionFailed with the item found there.
   */
  async update(write: Update): Promise<Item> {
    forgetRows(write.update);
    const stamp = write.if === undefined ? undefined : { [STAMP]: randomUUID() };
    const stamped = stamp === undefined ? write : { ...write, set: { ...write.set, ...stamp } };
    const { expression, values } = updateExpression(stamped);
    const input = {
      TableName: this.name,
      Key: wireKey(write.update),
      UpdateExpression: expression,
      ...condition(write, expression, values),
      ReturnValues: 'ALL_NEW',
    };
    const answer = await this.#one(write, stamp, () => this.#client.call('UpdateItem', input));
    return answer.kind === 'answered' ? fromWire(answer.value.Attributes ?? {}) : answer.item;
  }

  /**
   * A deleted item cannot carry a stamp, so a conditional deletion is a transaction of one write: its token
   * makes a retry after a lost response safe.
   * @throws ConditionFailed with the item found there.
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
    forgetRows(write.delete);
    const input = { TableName: this.name, Key: wireKey(write.delete) };
    await retrying(this.#retries, () => this.#client.call('DeleteItem', input));
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
        // An earlier attempt may have succeeded and been overwritten since, or may have failed: that is unknowable.
        throw new StoreUnavailable(true, error);
      }
    });
  }

  /**
   * Applies all writes or none. Conflicts, throttling and lost responses are retried with one idempotency token, which
   * DynamoDB remembers for ten minutes, so a transaction is not applied twice.
   * @throws TransactionRefused naming every condition that failed.
   */
  async transact(writes: readonly Write[], options: { token?: string } = {}): Promise<void> {
    if (writes.length === 0) return;
    if (writes.length > TRANSACTION_ITEMS)
      throw new RangeError(`a transaction of ${writes.length} items; ${TRANSACTION_ITEMS} is the limit`);
    for (const write of writes) forgetRows(keyOf(write));
    const input = {
      ClientRequestToken: options.token ?? randomUUID(),
      TransactItems: writes.map((write) => this.#transactItem(write)),
    };
    await retrying(this.#retries, async () => {
      try {
        await this.#client.call('TransactWriteItems', input);
      } catch (error) {
        throw refused(error, writes) ?? error;
      }
    });
  }

  #transactItem(write: Write): object {
    const TableName = this.name;
    if ('put' in write) return { Put: { TableName, Item: toWire(write.put), ...condition(write) } };
    if ('delete' in write) return { Delete: { TableName, Key: wireKey(write.delete), ...condition(write) } };
    if ('check' in write) {
      const check = { ...condition(write), ConditionExpression: write.if };
      return { ConditionCheck: { TableName, Key: wireKey(write.check), ...check } };
    }
    const { expression, values } = updateExpression(write);
    return {
      Update: {
        TableName,
        Key: wireKey(write.update),
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

/** Returns the failed conditions, by their labels; undefined when the transaction failed for another reason. */
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

const found = (item: WireItem | undefined): Item | undefined =>
  item === undefined || Object.keys(item).length === 0 ? undefined : fromWire(item);

const onlyKey = ({ pk, sk }: Key): Key => ({ pk, sk });
const wireKey = ({ pk, sk }: Key): WireItem => ({ pk: { S: pk }, sk: { S: sk } });
const identity = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
