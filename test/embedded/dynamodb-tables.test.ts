import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ReturnConsumedCapacity,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { EmbeddedDynamo, OperationRecord } from '@lemnos/embedded-aws/dynamodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensureTable } from '../../local/ensure-table.ts';
import { item, MAIN, openMain, partition } from './dynamodb-fixture.ts';

let dynamo: EmbeddedDynamo;
let client: DynamoDBClient;
beforeEach(async () => {
  ({ dynamo, client } = await openMain());
});
afterEach(() => dynamo.close());

const TableName = 'main';

describe('tables', () => {
  test('exist at once, and cannot be created twice', async () => {
    await ensureTable(client, MAIN);
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    expect(Table).toMatchObject({ TableName, TableStatus: 'ACTIVE' });
    expect(Table!.GlobalSecondaryIndexes!.map(({ IndexStatus }) => IndexStatus)).toEqual(
      Array(6).fill('ACTIVE'),
    );
    await expect(client.send(new CreateTableCommand(MAIN))).rejects.toMatchObject({
      name: 'ResourceInUseException',
    });
    expect((await client.send(new ListTablesCommand())).TableNames).toEqual(['main']);
  });

  test('are empty when created again', async () => {
    const Item = item({ pk: 'a', sk: 'a', h1: 'h', r1: 'r' });
    await client.send(new PutItemCommand({ TableName, Item }));
    await client.send(new DeleteTableCommand({ TableName }));
    await expect(client.send(new PutItemCommand({ TableName, Item }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    await ensureTable(client, MAIN);
    expect((await client.send(new QueryCommand(partition('pk', 'a')))).Count).toBe(0);
    expect((await client.send(new QueryCommand(partition('h1', 'h', { IndexName: 'all' })))).Count).toBe(0);
  });

  test('gain and lose indexes when their definition changes, with the existing items', async () => {
    for (let start = 0; start < 600; start += 25) {
      const puts = Array.from({ length: 25 }, (_, index) => ({
        PutRequest: { Item: item({ pk: 'a', sk: String(start + index), b: `b${(start + index) % 2}` }) },
      }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { main: puts } }));
    }
    const added = {
      IndexName: 'added',
      KeySchema: [{ AttributeName: 'b', KeyType: 'HASH' as const }],
      Projection: { ProjectionType: 'KEYS_ONLY' as const },
    };
    const GlobalSecondaryIndexes = [
      ...MAIN.GlobalSecondaryIndexes!.filter(({ IndexName }) => IndexName !== 'all'),
      added,
    ];
    await ensureTable(client, { ...MAIN, GlobalSecondaryIndexes });
    expect((await client.send(new QueryCommand(partition('b', 'b1', { IndexName: 'added' })))).Count).toBe(
      300,
    );
    await expect(client.send(new QueryCommand(partition('h1', 'h', { IndexName: 'all' })))).rejects.toThrow(
      'does not have the specified index',
    );
  });

  test('accept point-in-time recovery', async () => {
    await ensureTable(client, { ...MAIN, pointInTimeRecovery: true });
    const { ContinuousBackupsDescription } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    expect(ContinuousBackupsDescription!.PointInTimeRecoveryDescription!.PointInTimeRecoveryStatus).toBe(
      'ENABLED',
    );
  });
});

describe('time to live', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  const at = (seconds: number) => now.getTime() / 1000 + seconds;
  const put = (sk: string, end: number | string) =>
    client.send(new PutItemCommand({ TableName, Item: item({ pk: 'ttl', sk, end, h1: 'ttl', r1: sk }) }));
  const left = async (attribute: string, IndexName?: string) => {
    const { Items } = await client.send(
      new QueryCommand(partition(attribute, 'ttl', IndexName ? { IndexName } : {})),
    );
    return Items!.map(({ sk }) => sk!.S);
  };

  test('expires items, also those from before it was enabled', async () => {
    await put('before', at(-1));
    await ensureTable(client, { ...MAIN, timeToLive: 'end' });
    await ensureTable(client, { ...MAIN, timeToLive: 'end' });
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'end' });
    await put('now', at(0));
    await put('later', at(1));
    await put('ancient', at(-6 * 365 * 24 * 3600));
    await put('text', 'never');
    await put('prolonged', at(-5));
    await put('prolonged', at(5));
    await put('gone', at(-5));
    await client.send(new DeleteItemCommand({ TableName, Key: item({ pk: 'ttl', sk: 'gone' }) }));
    expect(await left('pk')).toContain('now');
    expect(await dynamo.expire(now)).toBe(2);
    expect(await left('pk')).toEqual(['ancient', 'later', 'prolonged', 'text']);
    expect(await left('h1', 'all')).toEqual(['ancient', 'later', 'prolonged', 'text']);
    expect(await dynamo.expire(new Date(now.getTime() + 5000))).toBe(2);
  });

  test('expires no items where it is not enabled', async () => {
    await put('a', at(-1));
    expect(await dynamo.expire(now)).toBe(0);
    await ensureTable(client, { ...MAIN, timeToLive: 'end' });
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { Enabled: false, AttributeName: 'end' },
      }),
    );
    expect(await dynamo.expire(now)).toBe(0);
  });
});

describe('capacity', () => {
  const Key = item({ pk: 'a', sk: 'a' });
  const kilobytes = (count: number) => ({ text: { S: 'x'.repeat(count * 1024 - 100) } });
  const INDEXES = { ReturnConsumedCapacity: ReturnConsumedCapacity.INDEXES };

  test('of writes counts 1 KB units of the table and of each index that changes', async () => {
    const put = (values: Parameters<typeof item>[0], size: number) =>
      client.send(
        new PutItemCommand({
          TableName,
          Item: { ...item({ pk: 'a', sk: 'a', ...values }), ...kilobytes(size) },
          ...INDEXES,
        }),
      );
    // `inverted` has keys only: one unit when the row is created, none when only the text changes.
    expect((await put({}, 3)).ConsumedCapacity).toEqual({
      TableName,
      CapacityUnits: 4,
      Table: { CapacityUnits: 3 },
      GlobalSecondaryIndexes: { inverted: { CapacityUnits: 1 } },
    });
    expect((await put({}, 1)).ConsumedCapacity).toEqual({
      TableName,
      CapacityUnits: 3,
      Table: { CapacityUnits: 3 },
    });
    const indexed = (await put({ h1: 'h', r1: 'r' }, 2)).ConsumedCapacity!;
    expect(indexed.GlobalSecondaryIndexes).toEqual({ all: { CapacityUnits: 2 } });
    // A row whose key changes is deleted and written.
    const moved = (await put({ h1: 'h', r1: 's' }, 2)).ConsumedCapacity!;
    expect(moved.GlobalSecondaryIndexes).toEqual({ all: { CapacityUnits: 4 } });
  });

  test('of reads counts 4 KB units, half for eventually consistent reads', async () => {
    await client.send(
      new PutItemCommand({
        TableName,
        Item: { ...item({ pk: 'a', sk: 'a', h1: 'h', r1: 'r' }), ...kilobytes(9) },
      }),
    );
    const get = async (ConsistentRead: boolean, key = Key) =>
      (
        await client.send(
          new GetItemCommand({ TableName, Key: key, ConsistentRead, ReturnConsumedCapacity: 'TOTAL' }),
        )
      ).ConsumedCapacity;
    expect(await get(true)).toEqual({ TableName, CapacityUnits: 3 });
    expect(await get(false)).toEqual({ TableName, CapacityUnits: 1.5 });
    expect(await get(true, item({ pk: 'none', sk: 'a' }))).toEqual({ TableName, CapacityUnits: 1 });
    const query = async (h1: string) =>
      (await client.send(new QueryCommand({ ...partition('h1', h1, { IndexName: 'all' }), ...INDEXES })))
        .ConsumedCapacity;
    expect(await query('h')).toEqual({
      TableName,
      CapacityUnits: 1.5,
      Table: { CapacityUnits: 0 },
      GlobalSecondaryIndexes: { all: { CapacityUnits: 1.5 } },
    });
    expect(await query('empty')).toMatchObject({ CapacityUnits: 0.5 });
  });

  test('of transactions is double, of batches the sum', async () => {
    const two = [Key, item({ pk: 'a', sk: 'b' })];
    const written = await client.send(
      new TransactWriteItemsCommand({
        TransactItems: two.map((each) => ({ Put: { TableName, Item: { ...each, ...kilobytes(2) } } })),
        ...INDEXES,
      }),
    );
    expect(written.ConsumedCapacity).toEqual([
      {
        TableName,
        CapacityUnits: 10,
        WriteCapacityUnits: 10,
        Table: { CapacityUnits: 8, WriteCapacityUnits: 8 },
        GlobalSecondaryIndexes: { inverted: { CapacityUnits: 2, WriteCapacityUnits: 2 } },
      },
    ]);
    const read = await client.send(
      new TransactGetItemsCommand({
        TransactItems: two.map((each) => ({ Get: { TableName, Key: each } })),
        ...INDEXES,
      }),
    );
    expect(read.ConsumedCapacity).toMatchObject([{ CapacityUnits: 4, ReadCapacityUnits: 4 }]);
    const batch = await client.send(
      new BatchGetItemCommand({ RequestItems: { main: { Keys: two } }, ReturnConsumedCapacity: 'TOTAL' }),
    );
    expect(batch.ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 1 }]);
    const silent = await client.send(new GetItemCommand({ TableName, Key }));
    expect(silent.ConsumedCapacity).toBeUndefined();
  });
});

test('onOperation reports every request, with the items it read and wrote', async () => {
  const records: OperationRecord[] = [];
  dynamo.onOperation = (record) => records.push(record);
  const Item = item({ pk: 'a', sk: 'b', h1: 'h', r1: 'r' });
  await client.send(new PutItemCommand({ TableName, Item }));
  await client.send(
    new QueryCommand({
      ...partition('h1', 'h', { IndexName: 'all', FilterExpression: 'attribute_exists(nothing)' }),
    }),
  );
  await client
    .send(new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' }))
    .catch(() => {});
  await client.send(new UpdateItemCommand({ TableName, Key: item({ pk: 'a' }) })).catch(() => {});
  expect(records).toMatchObject([
    {
      operation: 'PutItem',
      tables: ['main'],
      keys: ['a/b'],
      itemsRead: 0,
      itemsWritten: 1,
      writeUnits: 3,
      readUnits: 0,
    },
    { operation: 'Query', index: 'all', keys: ['h'], itemsRead: 1, itemsWritten: 0, readUnits: 0.5 },
    { operation: 'PutItem', itemsWritten: 0, writeUnits: 1, error: 'ConditionalCheckFailedException' },
    { operation: 'UpdateItem', error: 'ValidationException' },
  ]);
  expect(records[0]).not.toHaveProperty('error');
});

test('is served over HTTP too', async () => {
  const server = createServer(dynamo.listener()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const remote = new DynamoDBClient({
    region: 'local',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const Item = item({ pk: 'tcp', sk: 'ä' });
  await remote.send(new PutItemCommand({ TableName, Item }));
  const { Item: back } = await client.send(new GetItemCommand({ TableName, Key: Item }));
  expect(back).toEqual(Item);
  remote.destroy();
  server.close();
});
