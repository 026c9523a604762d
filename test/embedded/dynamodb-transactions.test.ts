import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CancellationReason,
  type DynamoDBClient,
  GetItemCommand,
  IdempotentParameterMismatchException,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { EmbeddedDynamo } from '@lemnos/embedded-aws/dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { clientOf, type Item, item, openMain, partition } from './dynamodb-fixture.ts';

let dynamo: EmbeddedDynamo;
let client: DynamoDBClient;
let serial = 0;
beforeAll(async () => ({ dynamo, client } = await openMain()));
afterAll(() => dynamo.close());

const TableName = 'main';
const newKey = () => item({ pk: `transaction-${++serial}`, sk: 's' });
const transact = (TransactItems: TransactWriteItem[], ClientRequestToken?: string) =>
  client.send(
    new TransactWriteItemsCommand({ TransactItems, ...(ClientRequestToken ? { ClientRequestToken } : {}) }),
  );
const get = async (Key: Item) => (await client.send(new GetItemCommand({ TableName, Key }))).Item;
const seed = (Item: Item) => client.send(new PutItemCommand({ TableName, Item }));
const absent = { ConditionExpression: 'attribute_not_exists(pk)' };
const add = (Key: Item, amount = 1): TransactWriteItem => ({
  Update: {
    TableName,
    Key,
    UpdateExpression: 'ADD tally :amount',
    ExpressionAttributeValues: { ':amount': { N: String(amount) } },
  },
});

async function reasonsOf(sent: Promise<unknown>): Promise<CancellationReason[]> {
  const failure = await sent.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(TransactionCanceledException);
  return (failure as TransactionCanceledException).CancellationReasons!;
}

describe('a transaction', () => {
  test('puts, updates, deletes and checks atomically', async () => {
    const [put, update, removed, checked] = [newKey(), newKey(), newKey(), newKey()] as const;
    await seed(removed);
    await seed(checked);
    await transact([
      { Put: { TableName, Item: { ...put, ...item({ h1: put['pk']!.S!, r1: 'x' }) } } },
      add(update, 5),
      { Delete: { TableName, Key: removed, ConditionExpression: 'attribute_exists(pk)' } },
      { ConditionCheck: { TableName, Key: checked, ConditionExpression: 'attribute_exists(pk)' } },
    ]);
    expect(await get(update)).toEqual({ ...update, tally: { N: '5' } });
    expect(await get(removed)).toBeUndefined();
    expect(await get(checked)).toEqual(checked);
    const indexed = await client.send(new QueryCommand(partition('h1', put['pk']!.S!, { IndexName: 'all' })));
    expect(indexed.Count).toBe(1);
  });

  test('that fails changes nothing, and has a reason for each item', async () => {
    const [fresh, taken, shown] = [newKey(), newKey(), newKey()] as const;
    await seed(taken);
    await seed({ ...shown, v: { N: '1' } });
    const sent = transact([
      { Put: { TableName, Item: fresh, ...absent } },
      { Put: { TableName, Item: taken, ...absent } },
      { Delete: { TableName, Key: shown, ...absent, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
    ]);
    await expect(sent).rejects.toThrow(
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed]',
    );
    expect(await reasonsOf(sent)).toEqual([
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      {
        Code: 'ConditionalCheckFailed',
        Message: 'The conditional request failed',
        Item: { ...shown, v: { N: '1' } },
      },
    ]);
    expect(await get(fresh)).toBeUndefined();
  });

  test('is cancelled by an update that does not fit its item', async () => {
    const Key = newKey();
    await seed({ ...Key, tally: { S: 'text' } });
    expect(await reasonsOf(transact([add(newKey()), add(Key)]))).toEqual([
      { Code: 'None' },
      { Code: 'ValidationError', Message: 'An operand in the update expression has an incorrect data type' },
    ]);
  });

  test('is cancelled by a key that does not match the schema', async () => {
    const reasons = await reasonsOf(transact([{ Delete: { TableName, Key: item({ pk: 'a' }) } }]));
    expect(reasons).toEqual([
      { Code: 'ValidationError', Message: 'The provided key element does not match the schema' },
    ]);
  });

  test.each([
    [
      'two operations on one item',
      () => {
        const Key = newKey();
        return [add(Key), { ConditionCheck: { TableName, Key, ...absent } }];
      },
      /cannot include multiple operations on one item/,
    ],
    ['101 items', () => Array.from({ length: 101 }, () => add(newKey())), /length less than or equal to 100/],
    ['no item', () => [], /length greater than or equal to 1/],
    [
      'two actions in one',
      () => [{ ...add(newKey()), Put: { TableName, Item: newKey() } }],
      /only contain one of/,
    ],
    [
      'a bad expression',
      () => [{ Delete: { TableName, Key: newKey(), ConditionExpression: 'a == b' } }],
      /Syntax error/,
    ],
    [
      'more than 4 MB',
      () =>
        Array.from({ length: 12 }, () => ({
          Put: { TableName, Item: { ...newKey(), text: { S: 'x'.repeat(380_000) } } },
        })),
      /4 MB/,
    ],
  ] as [string, () => TransactWriteItem[], RegExp][])('of %s is rejected', async (_, items, message) => {
    await expect(transact(items())).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringMatching(message),
    });
  });

  test('of 100 items succeeds', async () => {
    const keys = Array.from({ length: 100 }, newKey);
    await transact(keys.map((Key) => add(Key)));
    expect(await get(keys[99]!)).toMatchObject({ tally: { N: '1' } });
  });

  test('with a table that does not exist is rejected', async () => {
    const sent = transact([{ Put: { TableName: 'nowhere', Item: newKey() } }]);
    await expect(sent).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  test('concurrent transfers keep the sum', async () => {
    const accounts = Array.from({ length: 4 }, newKey);
    await transact(accounts.map((Key) => add(Key, 10)));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => {
        // Mostly from two of them, so that their balance reaches zero.
        const [from, to] = [accounts[index % 5 ? index % 2 : 2]!, accounts[index % 5 ? 3 : 0]!];
        return transact([
          {
            Update: {
              TableName,
              Key: from,
              UpdateExpression: 'SET tally = tally - :n',
              ConditionExpression: 'tally >= :n',
              ExpressionAttributeValues: { ':n': { N: '7' } },
            },
          },
          add(to, 7),
        ]);
      }),
    );
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['fulfilled', 'rejected']));
    const { Responses } = await client.send(
      new TransactGetItemsCommand({ TransactItems: accounts.map((Key) => ({ Get: { TableName, Key } })) }),
    );
    const balances = Responses!.map(({ Item }) => Number(Item!['tally']!.N));
    expect(balances.reduce((sum, balance) => sum + balance)).toBe(40);
    expect(Math.min(...balances)).toBeGreaterThanOrEqual(0);
  });
});

describe('a request token', () => {
  test('makes a repeat idempotent', async () => {
    const Key = newKey();
    await transact([add(Key)], 'repeat');
    await transact([add(Key)], 'repeat');
    expect(await get(Key)).toMatchObject({ tally: { N: '1' } });
  });

  test('makes concurrent repeats idempotent', async () => {
    const Key = newKey();
    await Promise.all(Array.from({ length: 10 }, () => transact([add(Key)], 'race')));
    expect(await get(Key)).toMatchObject({ tally: { N: '1' } });
  });

  test('cannot be reused for another request', async () => {
    await transact([add(newKey())], 'other');
    await expect(transact([add(newKey())], 'other')).rejects.toBeInstanceOf(
      IdempotentParameterMismatchException,
    );
  });

  test('of a cancelled transaction is not stored', async () => {
    const Key = newKey();
    await seed(Key);
    const items = [{ Put: { TableName, Item: Key, ConditionExpression: 'attribute_exists(tally)' } }];
    await expect(transact(items, 'cancelled')).rejects.toBeInstanceOf(TransactionCanceledException);
    await transact([add(Key)]);
    await transact(items, 'cancelled');
    expect(await get(Key)).toEqual(Key);
  });

  test('expires after ten minutes', async () => {
    const Key = newKey();
    await transact([add(Key)], 'old');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60 * 1000 + 1 });
    try {
      await dynamo.expire();
      await transact([add(Key)], 'old');
    } finally {
      vi.useRealTimers();
    }
    expect(await get(Key)).toMatchObject({ tally: { N: '2' } });
  });

  test('survives a restart', async () => {
    const path = mkdtempSync(join(tmpdir(), 'dynamo-token-'));
    try {
      const Key = newKey();
      const command = () =>
        new TransactWriteItemsCommand({ TransactItems: [add(Key)], ClientRequestToken: 'kept' });
      const first = await openMain(path);
      await first.client.send(command());
      await first.dynamo.close();
      const second = await openMain(path);
      await second.client.send(command());
      const { Item } = await second.client.send(new GetItemCommand({ TableName, Key }));
      expect(Item).toMatchObject({ tally: { N: '1' } });
      await second.dynamo.close();
    } finally {
      rmSync(path, { recursive: true });
    }
  });

  test('lets the SDK retry a transaction whose answer was lost', async () => {
    const Key = newKey();
    dynamo.faults.next('TransactWriteItems', { loseAnswer: true }, 2);
    await clientOf(dynamo, 3).send(new TransactWriteItemsCommand({ TransactItems: [add(Key)] }));
    expect(await get(Key)).toMatchObject({ tally: { N: '1' } });
  });
});

test('a transactional read answers in the order of the keys, with nothing for an absent item', async () => {
  const [present, missing] = [newKey(), newKey()] as const;
  await seed({ ...present, v: { N: '1' } });
  const { Responses } = await client.send(
    new TransactGetItemsCommand({
      TransactItems: [
        { Get: { TableName, Key: missing } },
        { Get: { TableName, Key: present, ProjectionExpression: 'v' } },
      ],
    }),
  );
  expect(Responses).toEqual([{}, { Item: { v: { N: '1' } } }]);
});

test('a transactional read never sees a part of a transaction', async () => {
  const [left, right] = [newKey(), newKey()] as const;
  await transact([add(left, 0), add(right, 0)]);
  let writing = true;
  const writer = (async () => {
    for (let count = 0; count < 150; count++) await transact([add(left), add(right)]);
    writing = false;
  })();
  let reads = 0;
  while (writing) {
    const { Responses } = await client.send(
      new TransactGetItemsCommand({
        TransactItems: [left, right].map((Key) => ({ Get: { TableName, Key } })),
      }),
    );
    const [a, b] = Responses!.map(({ Item }) => Item!['tally']!.N);
    expect(a).toBe(b);
    reads++;
  }
  await writer;
  expect(reads).toBeGreaterThan(10);
});
