/**
 * The conformance suite on the embedded DynamoDB, and on the one whose endpoint is in `DYNAMODB_ENDPOINT`
 * (the URL of an emulator). Then faults at every call, which only the embedded table can produce.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConditionFailed, StoreUnavailable } from '../../../lib/store/errors.ts';
import { Table } from '../../../lib/store/table/table.ts';
import { TableClient } from '../../../lib/store/table/table-client.ts';
import { ABSENT } from '../../../lib/store/table/write.ts';
import { config, openTestStore, type TestStore } from './store-fixture.ts';
import { tableConformance } from './table-conformance.ts';

tableConformance('the embedded DynamoDB', async () => {
  const dynamo = await openDynamo();
  const client = new DynamoDBClient({
    ...config,
    maxAttempts: 1,
    endpoint: 'http://dynamodb.local',
    requestHandler: dynamo.requestHandler,
  });
  return { client, close: () => dynamo.close() };
});

const endpoint = process.env['DYNAMODB_ENDPOINT'];
if (endpoint !== undefined && endpoint !== '') {
  tableConformance(endpoint, async () => {
    const client = new DynamoDBClient({ ...config, region: 'us-east-1', maxAttempts: 1, endpoint });
    return { client, close: async () => client.destroy() };
  });
} else {
  console.log('DYNAMODB_ENDPOINT is not set: the conformance suite ran on the embedded parts only');
}

describe('when the table fails', () => {
  let opened: TestStore;
  let table: Table;
  beforeAll(async () => {
    opened = await openTestStore();
    const policy = { attempts: 5, base: 1, cap: 2 };
    table = new Table(new TableClient(opened.client), 'test', policy);
  });
  beforeEach(() => opened.dynamo.faults.clear());
  afterAll(() => opened.close());
  const key = (pk: string) => ({ pk, sk: 'A' });

  const passing = [
    'throttling',
    'throughput-exceeded',
    'internal-error',
    'unreachable',
    'transaction-conflict',
  ] as const;
  test.each(passing)('with %s, every operation is retried until it succeeds', async (fail) => {
    const faults = opened.dynamo.faults;
    const pk = `repeat ${fail}`;
    const writes = ['PutItem', 'UpdateItem', 'TransactWriteItems', 'DeleteItem'];
    const reads = fail === 'transaction-conflict' ? [] : ['GetItem', 'Query', 'BatchGetItem'];
    for (const operation of [...writes, ...reads]) faults.next(operation, { fail }, 2);
    await table.put({ put: { ...key(pk), n: 1 }, if: ABSENT });
    await table.update({ update: key(pk), add: { n: 1 } });
    await table.transact([{ update: key(pk), add: { n: 1 } }]);
    expect(await table.get(key(pk))).toMatchObject({ n: 3 });
    expect((await table.query({ partition: pk })).items).toHaveLength(1);
    expect(await table.batchGet([key(pk)])).toHaveLength(1);
    await table.delete({ delete: key(pk) });
    expect(await table.get(key(pk))).toBeUndefined();
  });

  test('unprocessed keys of a batch are requested again', async () => {
    const keys = Array.from({ length: 30 }, (_, i) => key(`unprocessed ${i}`));
    await Promise.all(keys.map((k) => table.put({ put: k })));
    opened.dynamo.faults.next('BatchGetItem', { unprocessed: 12 }, 3);
    opened.reset();
    expect((await table.batchGet(keys)).filter(Boolean)).toHaveLength(30);
    expect(opened.operations.length).toBeGreaterThan(2);
  });

  test('items of a batch that are left unprocessed, throttled or sent without an answer are put again', async () => {
    const items = Array.from({ length: 60 }, (_, i) => ({ ...key(`batch ${i}`), n: i }));
    opened.dynamo.faults.next('BatchWriteItem', { unprocessed: 12 });
    opened.dynamo.faults.next('BatchWriteItem', { fail: 'throttling' });
    opened.dynamo.faults.next('BatchWriteItem', { loseAnswer: true });
    await table.putAll([...items, { ...items[0]!, n: 1000 }]);
    const found = await table.batchGet(items);
    expect(found.map((item) => item?.['n'])).toEqual([1000, ...items.slice(1).map(({ n }) => n)]);
    opened.dynamo.faults.next('BatchWriteItem', { unprocessed: 1 }, 20);
    await expect(table.putAll(items.slice(0, 2))).rejects.toBeInstanceOf(StoreUnavailable);
  });

  test('a put with a lost response recognizes its own item', async () => {
    opened.dynamo.faults.next('PutItem', { loseAnswer: true });
    await table.put({ put: { ...key('lost put'), n: 1 }, if: ABSENT });
    await expect(table.put({ put: key('lost put'), if: ABSENT })).rejects.toBeInstanceOf(ConditionFailed);
  });

  test('an update with a lost response is executed once', async () => {
    await table.put({ put: { ...key('lost update'), version: 1, n: 0 } });
    opened.dynamo.faults.next('UpdateItem', { loseAnswer: true });
    const after = await table.update({
      update: key('lost update'),
      set: { version: 2 },
      add: { n: 1 },
      if: '#version = :was',
      values: { was: 1 },
    });
    expect(after).toMatchObject({ version: 2, n: 1 });
  });

  test('an update with a lost response that was then overwritten is reported as ambiguous', async () => {
    await table.put({ put: { ...key('overwritten'), version: 1 } });
    opened.dynamo.faults.next('UpdateItem', { loseAnswer: true });
    const change = (by: string, was: number) =>
      table.update({
        update: key('overwritten'),
        set: { by, version: was + 1 },
        if: '#version = :was',
        values: { was },
      });
    let other: Promise<unknown> | undefined;
    opened.dynamo.faults.onRequest = ({ operation }) => {
      // The second attempt of the first writer waits until another writer has changed the item again.
      if (operation === 'UpdateItem' && other === undefined) {
        other = change('other', 2);
        return { delayMs: 100 };
      }
      return undefined;
    };
    const outcome = await change('me', 1).catch((e: unknown) => e);
    await other;
    expect(outcome).toBeInstanceOf(StoreUnavailable);
    expect((outcome as StoreUnavailable).ambiguous).toBe(true);
    expect(await table.get(key('overwritten'))).toMatchObject({ by: 'other', version: 3 });
  });

  test('a deletion with a lost response succeeds', async () => {
    await table.put({ put: key('lost delete') });
    opened.dynamo.faults.next('TransactWriteItems', { loseAnswer: true });
    await table.delete({ delete: key('lost delete'), if: 'attribute_exists(#pk)' });
    expect(await table.get(key('lost delete'))).toBeUndefined();
  });

  test('a transaction with a lost response is executed once and succeeds', async () => {
    opened.dynamo.faults.next('TransactWriteItems', { loseAnswer: true }, 3);
    await table.transact([
      { update: key('lost transaction'), add: { n: 1 } },
      { put: key('lost transaction, name'), if: ABSENT, reason: 'name' },
    ]);
    expect(await table.get(key('lost transaction'))).toMatchObject({ n: 1 });
  });

  test('a fault that never ends is an error that says whether the write may have happened', async () => {
    opened.dynamo.faults.onRequest = () => ({ fail: 'throttling' });
    await expect(table.put({ put: key('x') })).rejects.toMatchObject({
      code: 'unavailable',
      ambiguous: false,
    });
    opened.dynamo.faults.onRequest = () => ({ fail: 'unreachable' });
    await expect(table.put({ put: key('x') })).rejects.toMatchObject({
      code: 'unavailable',
      ambiguous: true,
    });
  });
});
