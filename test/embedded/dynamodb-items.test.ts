import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { EmbeddedDynamo } from '@lemnos/embedded-aws/dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureTable } from '../../local/ensure-table.ts';
import { type Item, item, openMain } from './dynamodb-fixture.ts';

let dynamo: EmbeddedDynamo;
let client: DynamoDBClient;
let serial = 0;
beforeAll(async () => ({ dynamo, client } = await openMain()));
afterAll(() => dynamo.close());

const TableName = 'main';
const newKey = () => item({ pk: `item-${++serial}`, sk: 's' });
const put = (Item: Item) => client.send(new PutItemCommand({ TableName, Item }));
const get = async (Key: Item) =>
  (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item;

/** Puts an item with `attributes` and updates it. @returns its attributes after that, without its key */
async function updated(
  attributes: Item,
  expression: string,
  values?: Item,
  more?: Partial<UpdateItemCommandInput>,
) {
  const Key = newKey();
  await put({ ...Key, ...attributes });
  const answer = await client.send(
    new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression: expression,
      ...(values ? { ExpressionAttributeValues: values } : {}),
      ReturnValues: 'ALL_NEW',
      ...more,
    }),
  );
  const { pk: _pk, sk: _sk, ...rest } = (await get(Key))!;
  return { now: rest, returned: answer.Attributes };
}

describe('conditions', () => {
  const subject: Item = {
    empty: { S: '' },
    no: { BOOL: false },
    list: { L: [{ S: 'a' }, { M: { x: { N: '1' } } }] },
    map: { M: { x: { N: '1' }, y: { L: [] } } },
    set: { SS: ['a', 'b'] },
    number: { N: '10' },
    bytes: { B: Uint8Array.of(255, 254, 1) },
    text: { S: 'hello' },
  };
  const cases: [expression: string, values: Item | undefined, holds: boolean][] = [
    ['attribute_exists(#empty)', undefined, true],
    ['attribute_exists(#no)', undefined, true],
    ['attribute_not_exists(#constructor)', undefined, true],
    ['attribute_not_exists(#map.toString)', undefined, true],
    ['attribute_type(#list, :v)', { ':v': { S: 'L' } }, true],
    ['#list = :v', { ':v': subject['list']! }, true],
    ['#list = :v', { ':v': { L: [{ S: 'a' }] } }, false],
    ['#map = :v', { ':v': { M: { y: { L: [] }, x: { N: '1.0' } } } }, true],
    ['#set = :v', { ':v': { SS: ['b', 'a'] } }, true],
    ['#set = :v', { ':v': { SS: ['a', 'c'] } }, false],
    ['#empty IN (:v, :w)', { ':v': { S: 'x' }, ':w': { S: '' } }, true],
    ['#no IN (:v)', { ':v': { BOOL: false } }, true],
    ['#number BETWEEN :v AND :w', { ':v': { N: '9' }, ':w': { N: '1e2' } }, true],
    ['#number < :v', { ':v': { N: '9' } }, false],
    ['#number < :v', { ':v': { S: '9' } }, false],
    ['absent < :v', { ':v': { N: '9' } }, false],
    ['absent = gone', undefined, false],
    ['absent <= gone', undefined, false],
    ['absent <> :v', { ':v': { N: '9' } }, true],
    ['NOT absent = :v', { ':v': { N: '9' } }, true],
    ['contains(#list, :v)', { ':v': { M: { x: { N: '1' } } } }, true],
    ['contains(#text, :v)', { ':v': { S: 'ell' } }, true],
    ['contains(#set, :v)', { ':v': { S: 'a' } }, true],
    ['begins_with(#bytes, :v)', { ':v': { B: Uint8Array.of(255) } }, true],
    ['begins_with(#bytes, :v)', { ':v': { B: Uint8Array.of(254) } }, false],
    ['size(#empty) = :v', { ':v': { N: '0' } }, true],
    ['size(#map) = :v AND #map.x = :w OR absent = :w', { ':v': { N: '2' }, ':w': { N: '1' } }, true],
    ['#list[1].x = :v', { ':v': { N: '1' } }, true],
    // UTF-8 order: U+1F600 comes after U+FFFD, though its UTF-16 units come before.
    [
      'size(#text) > :n AND :v > :w',
      { ':n': { N: '4' }, ':v': { S: '\u{1F600}' }, ':w': { S: '\uFFFD' } },
      true,
    ],
  ];
  test.each(cases)('%s %j is %s', async (expression, values, expected) => {
    const Key = newKey();
    await put({ ...Key, ...subject });
    const names = [...new Set(expression.match(/#\w+/g) ?? [])].map((name) => [name, name.slice(1)]);
    const sent = client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET done = :done',
        ConditionExpression: expression,
        ...(names.length ? { ExpressionAttributeNames: Object.fromEntries(names) } : {}),
        ExpressionAttributeValues: { ...values, ':done': { BOOL: true } },
      }),
    );
    if (expected) await sent;
    else await expect(sent).rejects.toBeInstanceOf(ConditionalCheckFailedException);
    expect((await get(Key))!['done']).toEqual(expected ? { BOOL: true } : undefined);
  });

  test.each([
    ['put', (Key: Item) => new PutItemCommand({ TableName, Item: Key, ...failing })],
    ['delete', (Key: Item) => new DeleteItemCommand({ TableName, Key, ...failing })],
    [
      'update',
      (Key: Item) => new UpdateItemCommand({ TableName, Key, UpdateExpression: 'SET a = b', ...failing }),
    ],
  ] as const)('a failed %s returns the existing item on request', async (_, command) => {
    const Key = newKey();
    await put({ ...Key, v: { N: '7' } });
    const failure = await client.send(command(Key) as PutItemCommand).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConditionalCheckFailedException);
    expect((failure as ConditionalCheckFailedException).Item).toEqual({ ...Key, v: { N: '7' } });
  });
  const failing = {
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;

  test('a failed condition returns no item unless requested', async () => {
    const Key = newKey();
    await put(Key);
    const failure = await client
      .send(new PutItemCommand({ TableName, Item: Key, ConditionExpression: 'attribute_not_exists(pk)' }))
      .catch((error: unknown) => error);
    expect((failure as ConditionalCheckFailedException).Item).toBeUndefined();
  });

  test('one of many concurrent creations of an item succeeds', async () => {
    const Key = newKey();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, racer) =>
        client.send(
          new PutItemCommand({
            TableName,
            Item: { ...Key, racer: { N: String(racer) } },
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        ),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('updates', () => {
  const L = (...texts: string[]) => ({ L: texts.map((S) => ({ S })) });
  const cases: [expression: string, before: Item, values: Item | undefined, after: Item][] = [
    // Operands are read from the item before the update, so this is a swap.
    ['SET a = b, b = a', { a: { S: '1' }, b: { S: '2' } }, undefined, { a: { S: '2' }, b: { S: '1' } }],
    ['REMOVE l[0], l[1]', { l: L('a', 'b', 'c') }, undefined, { l: L('c') }],
    [
      'SET l[9] = :v, l[7] = :w',
      { l: L('a') },
      { ':v': { S: 'z' }, ':w': { S: 'y' } },
      { l: L('a', 'y', 'z') },
    ],
    ['SET l[1] = :v REMOVE l[0]', { l: L('a', 'b') }, { ':v': { S: 'B' } }, { l: L('B') }],
    ['SET l = list_append(l, :v)', { l: L('a') }, { ':v': L('b') }, { l: L('a', 'b') }],
    ['SET x = if_not_exists(x, :v) + :v', {}, { ':v': { N: '2' } }, { x: { N: '4' } }],
    ['SET x = if_not_exists(x, :v)', { x: { S: '' } }, { ':v': { S: 'd' } }, { x: { S: '' } }],
    [
      'SET m.a.b = :v',
      { m: { M: { a: { M: {} } } } },
      { ':v': { N: '1' } },
      { m: { M: { a: { M: { b: { N: '1' } } } } } },
    ],
    ['ADD x :v', {}, { ':v': { N: '-3' } }, { x: { N: '-3' } }],
    ['ADD x :v', { x: { N: '0.1' } }, { ':v': { N: '0.2' } }, { x: { N: '0.3' } }],
    [
      'ADD x :v',
      { x: { N: '12345678901234567890' } },
      { ':v': { N: '1' } },
      { x: { N: '12345678901234567891' } },
    ],
    ['ADD x :v', { x: { SS: ['a'] } }, { ':v': { SS: ['a', 'b'] } }, { x: { SS: ['a', 'b'] } }],
    ['DELETE x :v', { x: { SS: ['a', 'b'] } }, { ':v': { SS: ['a'] } }, { x: { SS: ['b'] } }],
    ['DELETE x :v', { x: { SS: ['a'] } }, { ':v': { SS: ['a', 'q'] } }, {}],
    ['DELETE x :v', {}, { ':v': { SS: ['a'] } }, {}],
    ['REMOVE absent', { a: { S: '1' } }, undefined, { a: { S: '1' } }],
  ];
  test.each(cases)('%s on %j with %j', async (expression, before, values, after) => {
    const { now, returned } = await updated(before, expression, values);
    expect(now).toEqual(after);
    expect(returned).toMatchObject(after);
  });

  test.each([
    ['SET a = absent', undefined, /refers to an attribute that does not exist/],
    ['SET m.x = :v', { ':v': { S: 'a' } }, /document path provided in the update expression is invalid/],
    ['SET pk = :v', { ':v': { S: 'a' } }, /Cannot update attribute pk. This attribute is part of the key/],
    ['ADD s :v', { ':v': { N: '1' } }, /operand in the update expression has an incorrect data type/],
    ['SET h1 = :v', { ':v': { N: '1' } }, /Type mismatch for Index Key h1/],
    ['SET h1 = :v', { ':v': { S: '' } }, /empty string value. IndexName: all, IndexKey: h1/],
    ['SET a = :v, a = :v', { ':v': { S: 'a' } }, /Two document paths overlap/],
    ['SET a = :w', { ':v': { S: 'a' } }, /attribute value: :w/],
    [
      'SET a = :v'.padEnd(4097),
      { ':v': { S: 'a' } },
      /Expression size has exceeded the maximum allowed size; expression size: 4097/,
    ],
    ['SET big = :v', { ':v': { S: 'x'.repeat(400 * 1024) } }, /Item size to update has exceeded/],
  ] as [string, Item | undefined, RegExp][])('%s is rejected', async (expression, values, message) => {
    await expect(updated({ s: { S: 'text' } }, expression, values)).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ['ALL_OLD', { a: { N: '1' }, b: { N: '1' } }],
    ['UPDATED_OLD', { a: { N: '1' } }],
    ['UPDATED_NEW', { a: { N: '2' }, c: { N: '3' } }],
    ['NONE', undefined],
  ] as const)('ReturnValues %s', async (ReturnValues, expected) => {
    const { returned } = await updated(
      { a: { N: '1' }, b: { N: '1' } },
      'SET a = :a, c = :c',
      { ':a': { N: '2' }, ':c': { N: '3' } },
      { ReturnValues },
    );
    if (ReturnValues === 'ALL_OLD') expect(returned).toMatchObject(expected!);
    else expect(returned).toEqual(expected);
  });

  test('an update without an expression creates the item with its key', async () => {
    const Key = newKey();
    await client.send(new UpdateItemCommand({ TableName, Key }));
    expect(await get(Key)).toEqual(Key);
  });

  test('concurrent additions are all counted', async () => {
    const Key = newKey();
    await Promise.all(
      Array.from({ length: 50 }, () =>
        client.send(
          new UpdateItemCommand({
            TableName,
            Key,
            UpdateExpression: 'ADD tally :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          }),
        ),
      ),
    );
    expect((await get(Key))!['tally']).toEqual({ N: '50' });
  });
});

describe('items', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const { value } = fc.letrec<{ value: Item[string] }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.record({ S: text }),
      fc.record({ N: fc.integer().map(String) }),
      fc.record({ B: fc.uint8Array({ minLength: 1 }) }),
      fc.record({ BOOL: fc.boolean() }),
      fc.record({ NULL: fc.constant(true) }),
      fc.record({ SS: fc.uniqueArray(text, { minLength: 1 }) }),
      fc.record({ L: fc.array(tie('value'), { maxLength: 4 }) }),
      fc.record({
        M: fc.dictionary(
          text.filter((name) => name !== '__proto__'),
          tie('value'),
          { maxKeys: 4 },
        ),
      }),
    ) as fc.Arbitrary<Item[string]>,
  }));

  test('are returned as they were put', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (v) => {
        const Key = newKey();
        await put({ ...Key, v });
        const { v: back } = (await get(Key))!;
        expect(JSON.parse(JSON.stringify(back))).toEqual(JSON.parse(JSON.stringify(v)));
      }),
      { numRuns: 100 },
    );
  });

  test('a projection selects parts of maps and elements of lists', async () => {
    const Key = newKey();
    await put({
      ...Key,
      m: { M: { a: { N: '1' }, b: { N: '2' } } },
      l: { L: [{ S: '0' }, { S: '1' }, { S: '2' }] },
    });
    const { Item } = await client.send(
      new GetItemCommand({ TableName, Key, ProjectionExpression: 'm.a, l[2], l[0], absent' }),
    );
    expect(Item).toEqual({ m: { M: { a: { N: '1' } } }, l: { L: [{ S: '0' }, { S: '2' }] } });
  });

  test('a batch writes and reads up to its limits', async () => {
    const keys = Array.from({ length: 25 }, newKey);
    await client.send(
      new BatchWriteItemCommand({ RequestItems: { main: keys.map((Item) => ({ PutRequest: { Item } })) } }),
    );
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetItemCommand({
        RequestItems: { main: { Keys: [...keys, newKey()], ConsistentRead: true } },
      }),
    );
    expect(UnprocessedKeys).toEqual({});
    // The service guarantees no order: here it is never that of the keys.
    expect(Responses!['main']).toHaveLength(25);
    expect(Responses!['main']).toEqual(expect.arrayContaining(keys));
    expect(Responses!['main']).not.toEqual(keys);
    const deletes = keys.map((Key) => ({ DeleteRequest: { Key } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { main: deletes } }));
    expect(await get(keys[0]!)).toBeUndefined();
    const twice = [keys[0]!, keys[0]!].map((Key) => ({ DeleteRequest: { Key } }));
    await expect(client.send(new BatchWriteItemCommand({ RequestItems: { main: twice } }))).rejects.toThrow(
      'Provided list of item keys contains duplicates',
    );
  });

  test.each([
    ['a missing key', { pk: { S: 'a' } }, /Missing the key sk in the item/],
    [
      'a key of another type',
      { pk: { S: 'a' }, sk: { N: '1' } },
      /Type mismatch for key sk expected: S actual: N/,
    ],
    ['an empty key', { pk: { S: '' }, sk: { S: 'a' } }, /empty string value. Key: pk/],
    ['a long key', { pk: { S: 'é'.repeat(1025) }, sk: { S: 'a' } }, /Size of hashkey has exceeded/],
    [
      'too large',
      { pk: { S: 'a' }, sk: { S: 'a' }, v: { S: 'é'.repeat(205_000) } },
      /Item size has exceeded/,
    ],
    ['an empty set', { pk: { S: 'a' }, sk: { S: 'a' }, v: { SS: [] } }, /may not be empty/],
  ] as [string, Item, RegExp][])('%s is rejected', async (_, Item, message) => {
    await expect(put(Item)).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringMatching(message),
    });
  });

  test('are found by equal keys of numbers and bytes in any notation', async () => {
    await ensureTable(client, {
      TableName: 'typed',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'n', KeyType: 'HASH' },
        { AttributeName: 'b', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'n', AttributeType: 'N' },
        { AttributeName: 'b', AttributeType: 'B' },
      ],
    });
    const bytes = [[0], [0, 0], [1], [127, 255], [128], [255, 255]].map((each) => Uint8Array.from(each));
    for (const B of [...bytes].reverse()) {
      await client.send(new PutItemCommand({ TableName: 'typed', Item: { n: { N: '1.50' }, b: { B } } }));
    }
    const { Items } = await client.send(
      new QueryCommand({
        TableName: 'typed',
        KeyConditionExpression: 'n = :n AND b >= :b',
        ExpressionAttributeValues: { ':n': { N: '15e-1' }, ':b': { B: Uint8Array.of(0, 0) } },
      }),
    );
    expect(Items!.map(({ b }) => b!.B)).toEqual(bytes.slice(1));
    expect(Items![0]!['n']).toEqual({ N: '1.5' });
  });

  test('with an attribute named __proto__ are rejected', async () => {
    const v = { M: JSON.parse('{"__proto__":{"S":"x"}}') as Item };
    await expect(put({ ...newKey(), v })).rejects.toThrow('does not support attributes named __proto__');
    const Key = newKey();
    await put({ ...Key, v: { S: '{"__proto__":1}' }, w: { M: { constructor: { S: '__proto__' } } } });
    expect(await get(Key)).toMatchObject({
      v: { S: '{"__proto__":1}' },
      w: { M: { constructor: { S: '__proto__' } } },
    });
  });

  test('of a table that does not exist are rejected', async () => {
    const sent = client.send(new GetItemCommand({ TableName: 'nowhere', Key: newKey() }));
    await expect(sent).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
