import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  InternalServerError,
  ProvisionedThroughputExceededException,
  PutItemCommand,
  QueryCommand,
  ThrottlingException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { EmbeddedDynamo, OperationRecord } from '@lemnos/embedded-aws/dynamodb';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { clientOf, type Item, item, openMain, partition } from './dynamodb-fixture.ts';

let dynamo: EmbeddedDynamo;
let client: DynamoDBClient;
let serial = 0;
beforeAll(async () => ({ dynamo, client } = await openMain()));
beforeEach(() => dynamo.faults.clear());
afterAll(() => dynamo.close());

const TableName = 'main';
const newKey = () => item({ pk: `fault-${++serial}`, sk: 's' });
const put = (Item: Item, more = {}) => client.send(new PutItemCommand({ TableName, Item, ...more }));
const get = async (Key: Item) => (await client.send(new GetItemCommand({ TableName, Key }))).Item;

test.each([
  ['transaction-conflict', TransactionConflictException],
  ['throttling', ThrottlingException],
  ['throughput-exceeded', ProvisionedThroughputExceededException],
  ['internal-error', InternalServerError],
] as const)('%s: the SDK throws its exception class, and nothing is written', async (fail, type) => {
  const Key = newKey();
  dynamo.faults.next('PutItem', { fail });
  await expect(put(Key)).rejects.toBeInstanceOf(type);
  expect(await get(Key)).toBeUndefined();
  await put(Key);
  expect(await get(Key)).toEqual(Key);
});

test('a conflict cancels a transaction with its reason', async () => {
  dynamo.faults.next('TransactWriteItems', { fail: 'transaction-conflict', conflictAt: 1 });
  const failure = await client
    .send(
      new TransactWriteItemsCommand({
        TransactItems: [newKey(), newKey()].map((Item) => ({ Put: { TableName, Item } })),
      }),
    )
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TransactionCanceledException);
  expect((failure as TransactionCanceledException).CancellationReasons).toEqual([
    { Code: 'None' },
    { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
  ]);
});

test('a batch may leave some of its keys and writes unprocessed', async () => {
  const keys = [newKey(), newKey(), newKey()];
  dynamo.faults.next('BatchWriteItem', { unprocessed: 2 });
  const RequestItems = { main: keys.map((Item) => ({ PutRequest: { Item } })) };
  const written = await client.send(new BatchWriteItemCommand({ RequestItems }));
  expect(written.UnprocessedItems).toEqual({ main: RequestItems.main.slice(1) });
  expect(await Promise.all(keys.map(get))).toEqual([keys[0], undefined, undefined]);
  await client.send(new BatchWriteItemCommand({ RequestItems: written.UnprocessedItems! }));

  dynamo.faults.next('BatchGetItem', { unprocessed: 1 });
  const request = { main: { Keys: keys, ConsistentRead: true, ProjectionExpression: 'pk' } };
  const read = await client.send(new BatchGetItemCommand({ RequestItems: request }));
  expect(read.Responses!['main']).toHaveLength(2);
  expect(read.UnprocessedKeys).toEqual({ main: { ...request.main, Keys: [keys[2]] } });
  const rest = await client.send(new BatchGetItemCommand({ RequestItems: read.UnprocessedKeys! }));
  expect(rest.Responses!['main']).toEqual([{ pk: keys[2]!['pk'] }]);

  dynamo.faults.next('BatchGetItem', { unprocessed: 3 });
  await expect(client.send(new BatchGetItemCommand({ RequestItems: request }))).rejects.toBeInstanceOf(
    ProvisionedThroughputExceededException,
  );
});

test('a lost answer: the write is done, so that the condition of its retry fails', async () => {
  const Key = newKey();
  const records: OperationRecord[] = [];
  dynamo.onOperation = (record) => records.push(record);
  dynamo.faults.next('PutItem', { loseAnswer: true });
  const sent = clientOf(dynamo, 3).send(
    new PutItemCommand({ TableName, Item: Key, ConditionExpression: 'attribute_not_exists(pk)' }),
  );
  await expect(sent).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
  dynamo.onOperation = undefined;
  expect(await get(Key)).toEqual(Key);
  expect(records.map(({ error }) => error)).toEqual(['TimeoutError', 'ConditionalCheckFailedException']);
});

test('the SDK retries a request that does not arrive', async () => {
  const Key = newKey();
  dynamo.faults.next('*', { fail: 'unreachable' });
  await clientOf(dynamo, 3).send(
    new PutItemCommand({ TableName, Item: Key, ConditionExpression: 'attribute_not_exists(pk)' }),
  );
  expect(await get(Key)).toEqual(Key);
});

test('a callback selects the fault of each request, and may delay it', async () => {
  const Key = newKey();
  dynamo.faults.onRequest = ({ operation, input }) =>
    operation === 'GetItem' && (input['Key'] as Item)['pk']?.S === Key['pk']!.S
      ? { delayMs: 500 }
      : undefined;
  const answered: string[] = [];
  const asked = performance.now();
  await Promise.all([
    get(Key).then(() => answered.push('delayed')),
    get(newKey()).then(() => answered.push('at once')),
  ]);
  expect(performance.now() - asked).toBeGreaterThanOrEqual(499);
  expect(answered).toEqual(['at once', 'delayed']);
});

test('global indexes may lag behind, for forward and backward queries, until they have caught up', async () => {
  const [pk, h1] = ['late', 'late-index'];
  const write = (sk: string, r1: string, title: string) => put(item({ pk, sk, h1, r1, title }));
  const rows = async (ScanIndexForward = true) => {
    const { Items } = await client.send(
      new QueryCommand(partition('h1', h1, { IndexName: 'all', ScanIndexForward })),
    );
    return Items!.map(({ r1, title }) => `${r1!.S}:${title!.S}`);
  };
  await write('1', 'b', 'old');
  await write('2', 'd', 'old');
  await write('3', 'f', 'old');
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  dynamo.faults.indexDelayMs = 300;
  await write('1', 'b', 'new');
  await write('2', 'a', 'moved');
  await write('4', 'c', 'added');
  await write('3', 'f', 'newer');
  await write('3', 'f', 'newest');
  expect(await rows()).toEqual(['b:old', 'd:old', 'f:old']);
  expect(await rows(false)).toEqual(['f:old', 'd:old', 'b:old']);
  expect((await client.send(new QueryCommand(partition('pk', pk)))).Count).toBe(4);
  vi.setSystemTime(Date.now() + 300);
  expect(await rows()).toEqual(['a:moved', 'b:new', 'c:added', 'f:newest']);
  expect(await rows(false)).toEqual(['f:newest', 'c:added', 'b:new', 'a:moved']);
});
