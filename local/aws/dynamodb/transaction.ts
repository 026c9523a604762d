import { createHash } from 'node:crypto';
import { type Item, itemSize } from './attribute.ts';
import { readUnits } from './capacity.ts';
import {
  type CancellationReason,
  ConditionFailed,
  DynamoError,
  invalid,
  transactionCanceled,
} from './errors.ts';
import { parseRead, resultOf } from './item-read.ts';
import { decide, locate, parseWrite, type WriteEffect, type WriteKind } from './item-write.ts';
import { type Database, type Input, type Operation, stage } from './operation.ts';
import type { Changes, Storage } from './storage.ts';

const MAX_ITEMS = 100;
const MAX_BYTES = 4 * 1024 * 1024;
/** How long a ClientRequestToken stays valid. */
const TOKEN_MS = 10 * 60 * 1000;
const TOKEN_PREFIX = 'c/';

const KINDS: Record<string, WriteKind> = {
  ConditionCheck: 'ConditionCheck',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
};

/**
 * TransactWriteItems. All conditions are checked before any item changes; all changes and the request's token are
 * written in one batch.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export function transactWriteItems(database: Database, operation: Operation): unknown {
  const { input } = operation;
  const requested = input['ReturnConsumedCapacity'] as string | undefined;
  const token = input['ClientRequestToken'] as string | undefined;
  if (token !== undefined && (token.length < 1 || token.length > 36)) {
    throw invalid(
      `1 validation error detected: Value '${token}' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36`,
    );
  }
  const idempotency = token === undefined ? undefined : new IdempotencyToken(token, input);
  const items = listOf(input);
  const requests = items.map((item) => {
    const names = Object.keys(item).filter((name) => item[name] != null);
    if (names.length !== 1 || !KINDS[names[0]!]) {
      throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
    }
    const name = names[0]!;
    const request = item[name] as Input;
    if (name === 'Update' && request['UpdateExpression'] == null) {
      throw invalid('Invalid UpdateExpression: The expression can not be empty;');
    }
    return parseWrite(KINDS[name]!, request);
  });
  for (const { tableName } of requests) database.catalog.table(tableName);

  if (idempotency?.isRepeat(database.storage)) {
    // A repeat gets the answer of the first request, and costs the reads that detect it.
    for (const request of requests) {
      const write = locate(database, request);
      operation.touch(write.table, write.item);
      operation.meter.read(write.table.name, 2 * readUnits(sizeOf(database.storage.peek(write.key)), true));
    }
    return answer(operation, requested);
  }

  const writes = collect(requests, (request) => locate(database, request));
  rejectDuplicates(writes.map(({ key }) => key));
  for (const { table, item } of writes) operation.touch(table, item);

  const changes: Changes = new Map();
  const effects = collect(writes, (write) => decide(database, write, changes));
  const bytes = effects.reduce((sum, { before, after }) => sum + Math.max(size(before), size(after)), 0);
  if (bytes > MAX_BYTES) throw tooLarge();
  effects.forEach(({ units }: WriteEffect, index) => {
    operation.meter.write(writes[index]!.table.name, units, 2);
  });
  operation.itemsWritten = writes.filter(({ kind }) => kind !== 'ConditionCheck').length;
  idempotency?.store(changes);
  stage(database, changes);
  return answer(operation, requested);
}

/** TransactGetItems: all items from one snapshot. */
export function transactGetItems(database: Database, operation: Operation): unknown {
  const requested = operation.input['ReturnConsumedCapacity'] as string | undefined;
  const requests = listOf(operation.input).map((item) => {
    if (item['Get'] == null)
      throw invalid("The parameter 'Get' is required but was not present in the request");
    return item['Get'] as Input;
  });
  const reads = collect(requests, (request) => parseRead(database, request));
  rejectDuplicates(reads.map(({ key }) => key));
  const texts = database.storage.getMany(reads.map(({ key }) => key));
  if (texts.reduce((sum, text) => sum + sizeOf(text), 0) > MAX_BYTES) throw tooLarge();
  const responses = reads.map((read, index) => {
    operation.touch(read.table, read.attributes);
    const item = resultOf(operation, read, texts[index], 2);
    return item ? { Item: item } : {};
  });
  return { Responses: responses, ...answer(operation, requested) };
}

/** Deletes expired idempotency tokens. */
export async function deleteExpiredTokens(storage: Storage, now: number): Promise<void> {
  for await (const rows of storage.rows({ gte: TOKEN_PREFIX, lt: 'c0' })) {
    const changes: Changes = new Map();
    for (const [key, value] of rows) if ((JSON.parse(value) as TokenRow).until <= now) changes.set(key, null);
    if (changes.size) storage.stage(changes);
  }
  await storage.flushed();
}

interface TokenRow {
  /** SHA-256 of the request that it came with. */
  hash: string;
  /** Milliseconds since 1970. */
  until: number;
}

/** A request's idempotency token: stored with the request's writes, so that it survives a restart. */
class IdempotencyToken {
  readonly #key: string;
  readonly #hash: string;

  constructor(token: string, input: Input) {
    const { ClientRequestToken: _, ...rest } = input;
    this.#key = TOKEN_PREFIX + token;
    this.#hash = createHash('sha256').update(JSON.stringify(rest)).digest('base64');
  }

  /** @throws DynamoError IdempotentParameterMismatchException when the token came with another request before */
  isRepeat(storage: Storage): boolean {
    const text = storage.peek(this.#key);
    if (text === undefined) return false;
    const { hash, until } = JSON.parse(text) as TokenRow;
    if (until <= Date.now()) return false;
    if (hash === this.#hash) return true;
    throw new DynamoError(
      'IdempotentParameterMismatchException',
      'The parameters of the request do not match those of the first request with this ClientRequestToken',
    );
  }

  store(changes: Changes): void {
    const row: TokenRow = { hash: this.#hash, until: Date.now() + TOKEN_MS };
    changes.set(this.#key, JSON.stringify(row));
  }
}

function listOf(input: Input): Input[] {
  const items = input['TransactItems'];
  const constraint = !Array.isArray(items)
    ? 'Member must not be null'
    : items.length < 1
      ? 'Member must have length greater than or equal to 1'
      : items.length > MAX_ITEMS
        ? `Member must have length less than or equal to ${MAX_ITEMS}`
        : undefined;
  if (constraint) {
    throw invalid(
      `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: ${constraint}`,
    );
  }
  return items as Input[];
}

/**
 * Maps all items, or cancels the transaction with a reason for each item that failed.
 * @throws DynamoError TransactionCanceledException; ResourceNotFoundException unchanged
 */
function collect<T, R>(items: readonly T[], map: (item: T) => R): R[] {
  const results: R[] = [];
  const reasons: CancellationReason[] = items.map((item) => {
    try {
      results.push(map(item));
      return { Code: 'None' };
    } catch (error) {
      if (error instanceof ConditionFailed) {
        const reason: CancellationReason = { Code: 'ConditionalCheckFailed', Message: error.message };
        return error.item ? { ...reason, Item: error.item } : reason;
      }
      if (error instanceof DynamoError && error.code === 'ValidationException') {
        return { Code: 'ValidationError', Message: error.message };
      }
      throw error;
    }
  });
  if (reasons.some(({ Code }) => Code !== 'None')) throw transactionCanceled(reasons);
  return results;
}

function rejectDuplicates(keys: readonly string[]): void {
  if (new Set(keys).size < keys.length) {
    throw invalid('Transaction request cannot include multiple operations on one item');
  }
}

function answer(operation: Operation, requested: string | undefined) {
  const capacity = operation.meter.report(requested, 'split');
  return capacity ? { ConsumedCapacity: capacity } : {};
}

const tooLarge = () => invalid('The aggregate size of the items in the transaction exceeds 4 MB');
const size = (item: Item | undefined) => (item ? itemSize(item) : 0);
const sizeOf = (text: string | undefined) => (text === undefined ? 0 : itemSize(JSON.parse(text) as Item));
