import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { EmbeddedDynamo } from '@lemnos/embedded-aws/dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Item, item, openMain, partition } from './dynamodb-fixture.ts';

let dynamo: EmbeddedDynamo;
let client: DynamoDBClient;
let serial = 0;
/** A partition that no other test uses. */
let pk: string;
beforeAll(async () => ({ dynamo, client } = await openMain()));
afterAll(() => dynamo.close());
beforeEach(() => {
  pk = `query-${++serial}`;
});

const TableName = 'main';
const put = (Item: Item) => client.send(new PutItemCommand({ TableName, Item }));
const query = (input: QueryCommandInput) => client.send(new QueryCommand(input));
const sortKeys = (items: Item[] | undefined) => items!.map(({ sk }) => sk!.S);

/** Puts items with these sort keys into one partition; in index `all` they have the partition's name as hash key. */
async function fill(keys: readonly string[], more: (key: string) => Item = () => ({})): Promise<void> {
  for (let start = 0; start < keys.length; start += 25) {
    const puts = keys
      .slice(start, start + 25)
      .map((sk) => ({ PutRequest: { Item: { ...item({ pk, sk, h1: pk, r1: sk }), ...more(sk) } } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { main: puts } }));
  }
}

/** The items of all pages, and the number of pages. */
async function everyPage(
  input: QueryCommandInput,
): Promise<{ items: Item[]; pages: number; scanned: number }> {
  const items: Item[] = [];
  let pages = 0;
  let scanned = 0;
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await query({ ...input, ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}) });
    items.push(...(page.Items ?? []));
    scanned += page.ScannedCount!;
    pages++;
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return { items, pages, scanned };
}

describe.each([
  ['the table', 'pk', 'sk', undefined],
  ['an index', 'h1', 'r1', 'all'],
] as const)('key conditions on %s', (_, hash, range, IndexName) => {
  const keys = ['a', 'ab', 'abc', 'b', 'b/', 'b~', 'ba', 'é', '\uFFFD', '\u{1F600}'];
  const cases: [condition: string, values: string[], matching: string[]][] = [
    ['#range = :a', ['ab'], ['ab']],
    ['#range < :a', ['abc'], ['a', 'ab']],
    ['#range <= :a', ['abc'], ['a', 'ab', 'abc']],
    [':a >= #range', ['abc'], ['a', 'ab', 'abc']],
    ['#range > :a', ['ba'], ['b~', 'é', '\uFFFD', '\u{1F600}']],
    ['#range >= :a', ['ba'], ['ba', 'b~', 'é', '\uFFFD', '\u{1F600}']],
    ['begins_with(#range, :a)', ['ab'], ['ab', 'abc']],
    ['begins_with(#range, :a)', ['b'], ['b', 'b/', 'ba', 'b~']],
    ['#range BETWEEN :a AND :b', ['ab', 'b/'], ['ab', 'abc', 'b', 'b/']],
    ['#range BETWEEN :a AND :b', ['c', 'd'], []],
  ];
  test.each(cases)('%s %j', async (condition, values, matching) => {
    await fill(keys);
    const input = partition(hash, pk, {
      KeyConditionExpression: `#hash = :hash AND ${condition}`,
      ExpressionAttributeNames: { '#range': range },
      ExpressionAttributeValues: Object.fromEntries(values.map((S, index) => [[':a', ':b'][index]!, { S }])),
      ...(IndexName ? { IndexName } : {}),
    });
    expect(sortKeys((await query(input)).Items)).toEqual(matching);
    expect(sortKeys((await query({ ...input, ScanIndexForward: false })).Items)).toEqual(
      [...matching].reverse(),
    );
    for (const ScanIndexForward of [true, false]) {
      const { items } = await everyPage({ ...input, ScanIndexForward, Limit: 2 });
      expect(sortKeys(items)).toEqual(ScanIndexForward ? matching : [...matching].reverse());
    }
  });
});

describe('pages', () => {
  const forty = Array.from({ length: 40 }, (_, index) => String(index).padStart(2, '0'));

  test('a page that ends at the limit has a LastEvaluatedKey, even if no item follows', async () => {
    await fill(forty);
    const { items, pages } = await everyPage(partition('pk', pk, { Limit: 10 }));
    expect(sortKeys(items)).toEqual(forty);
    expect(pages).toBe(5);
  });

  test('the limit counts evaluated items, before the filter', async () => {
    await fill(forty, (sk) => ({ even: { BOOL: Number(sk) % 2 === 0 } }));
    const input = partition('h1', pk, {
      IndexName: 'all',
      Limit: 10,
      FilterExpression: 'even = :yes',
      ExpressionAttributeValues: { ':yes': { BOOL: true } },
    });
    const page = await query(input);
    expect(page).toMatchObject({ Count: 5, ScannedCount: 10 });
    expect(page.LastEvaluatedKey).toEqual(item({ pk, sk: '09', h1: pk, r1: '09' }));
    const { items, scanned } = await everyPage(input);
    expect(items).toHaveLength(20);
    expect(scanned).toBe(40);
  });

  test('COUNT returns the count without the items', async () => {
    await fill(forty);
    const page = await query(partition('h1', pk, { IndexName: 'all', Select: 'COUNT' }));
    expect(page).toMatchObject({ Count: 40, ScannedCount: 40 });
    expect(page.Items).toBeUndefined();
  });

  test('end at 1 MB', async () => {
    const keys = forty.slice(0, 8);
    await fill(keys, () => ({ text: { S: 'x'.repeat(300_000) } }));
    const { items, pages } = await everyPage(partition('pk', pk));
    expect(sortKeys(items)).toEqual(keys);
    expect(pages).toBe(3);
  });

  test('a start key outside the partition, or of other attributes, is rejected', async () => {
    const start = (ExclusiveStartKey: Item) => query(partition('pk', pk, { ExclusiveStartKey }));
    await expect(start(item({ pk: 'other', sk: 'a' }))).rejects.toThrow('outside query boundaries');
    await expect(start(item({ pk, sk: 'a', h1: 'a' }))).rejects.toThrow('starting key is invalid');
  });

  test('a page continues after an item that was deleted', async () => {
    await fill(forty);
    const { LastEvaluatedKey } = await query(partition('pk', pk, { Limit: 3 }));
    await client.send(new DeleteItemCommand({ TableName, Key: LastEvaluatedKey! }));
    const next = await query(partition('pk', pk, { Limit: 2, ExclusiveStartKey: LastEvaluatedKey! }));
    expect(sortKeys(next.Items)).toEqual(['03', '04']);
  });
});

describe('indexes', () => {
  const whole = () => item({ pk, sk: 's', h1: pk, r1: 'r', h2: pk, h3: pk, title: 't', other: 'o', n: 1 });

  test('contain the attributes of their projection', async () => {
    await put(whole());
    const row = async (attribute: string, IndexName: string) =>
      (await query(partition(attribute, pk, { IndexName }))).Items;
    expect(await row('h1', 'all')).toEqual([whole()]);
    expect(await row('h2', 'keys')).toEqual([item({ pk, sk: 's', h2: pk, r1: 'r' })]);
    expect(await row('h3', 'include')).toEqual([item({ pk, sk: 's', h3: pk, title: 't' })]);
  });

  test('follow updates and deletions, and are sparse', async () => {
    await put(whole());
    const Key = item({ pk, sk: 's' });
    const update = (UpdateExpression: string, ExpressionAttributeValues?: Item) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key,
          UpdateExpression,
          ...(ExpressionAttributeValues ? { ExpressionAttributeValues } : {}),
        }),
      );
    const count = async (attribute: string, IndexName: string, value = pk) =>
      (await query(partition(attribute, value, { IndexName }))).Count;
    await update('SET h1 = :v, title = :t', { ':v': { S: `${pk}-moved` }, ':t': { S: 'new' } });
    expect(await count('h1', 'all')).toBe(0);
    expect(await count('h1', 'all', `${pk}-moved`)).toBe(1);
    expect((await query(partition('h3', pk, { IndexName: 'include' }))).Items![0]!['title']).toEqual({
      S: 'new',
    });
    await update('REMOVE r1');
    expect(await count('h1', 'all', `${pk}-moved`)).toBe(0);
    expect(await count('h1', 'numbers', `${pk}-moved`)).toBe(1);
    expect(await count('h2', 'keys')).toBe(0);
    await client.send(new DeleteItemCommand({ TableName, Key }));
    expect(await count('h3', 'include')).toBe(0);
    expect(await count('h1', 'numbers', `${pk}-moved`)).toBe(0);
  });

  test('contain every one of thousands of items with the same index key', async () => {
    // dynalite distinguishes index rows by 24 bits of a hash: of 5,000 items it would probably lose one.
    const keys = Array.from({ length: 5000 }, (_, index) => String(index).padStart(5, '0'));
    await fill(keys, () => ({ h4: { S: pk }, r1: { S: 'same' } }));
    for (const [attribute, IndexName] of [
      ['h4', 'hash'],
      ['h1', 'all'],
    ] as const) {
      const { items } = await everyPage(partition(attribute, pk, { IndexName, Limit: 999 }));
      expect(sortKeys(items).sort()).toEqual(keys);
    }
  });

  test('reject what the service rejects', async () => {
    const refused = (input: Partial<QueryCommandInput>, attribute = 'h2', IndexName = 'keys') =>
      expect(query(partition(attribute, pk, { IndexName, ...input }))).rejects;
    await refused({ ConsistentRead: true }).toThrow(
      'Consistent reads are not supported on global secondary indexes',
    );
    await refused({ Select: 'ALL_ATTRIBUTES' }).toThrow('Select type ALL_ATTRIBUTES is not supported');
    await refused({ ProjectionExpression: 'pk, title' }).toThrow('does not project [title]');
    await refused({}, 'h1').toThrow('Query condition missed key schema element: h2');
    await refused({}, 'h2', 'nope').toThrow('The table does not have the specified index: nope');
    await refused({
      FilterExpression: 'r1 = :v',
      ExpressionAttributeValues: { ':v': { S: 'a' } },
    }).toThrow('Filter Expression can only contain non-primary key attributes: Primary key attribute: r1');
  });

  test('order numbers by value', async () => {
    const number = fc.oneof(
      fc.integer(),
      fc.integer({ min: -20, max: 20 }),
      fc
        .tuple(fc.integer({ min: -999999, max: 999999 }), fc.integer({ min: -30, max: 30 }))
        .map(([digits, exponent]) => Number(`${digits}e${exponent}`)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          number.map((n) => n + 0),
          { minLength: 2, maxLength: 20 },
        ),
        async (numbers) => {
          pk = `numbers-${++serial}`;
          await fill(numbers.map(String), (sk) => ({ n: { N: sk } }));
          const { Items } = await query(partition('h1', pk, { IndexName: 'numbers' }));
          expect(Items!.map(({ n }) => Number(n!.N))).toEqual([...numbers].sort((a, b) => a - b));
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('after any sequence of writes, table and indexes equal those of a simple model', async () => {
  const small = fc.constantFrom('a', 'b', 'c');
  const write = fc.record(
    {
      sk: small,
      remove: fc.boolean(),
      h1: fc.option(small, { nil: undefined }),
      r1: fc.option(small, { nil: undefined }),
      title: small,
    },
    { requiredKeys: ['sk', 'remove', 'title'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 25 }), fc.boolean(), async (writes, reverse) => {
      pk = `model-${++serial}`;
      const model = new Map<string, Item>();
      for (const { sk, remove, h1, r1, title } of writes) {
        if (remove) {
          model.delete(sk);
          await client.send(new DeleteItemCommand({ TableName, Key: item({ pk, sk }) }));
          continue;
        }
        const next = item({ pk, sk, title, ...(h1 ? { h1: pk + h1 } : {}), ...(r1 ? { r1 } : {}) });
        model.set(sk, next);
        await put(next);
      }
      const items = [...model.values()];
      const order = (a: Item, b: Item, name: string) =>
        (a[name]!.S! < b[name]!.S! ? -1 : 1) * (reverse ? -1 : 1);
      const table = await everyPage(partition('pk', pk, { Limit: 2, ScanIndexForward: !reverse }));
      expect(table.items).toEqual([...items].sort((a, b) => order(a, b, 'sk')));
      for (const h1 of ['a', 'b', 'c']) {
        const input = partition('h1', pk + h1, { IndexName: 'all', Limit: 2, ScanIndexForward: !reverse });
        const { items: rows } = await everyPage(input);
        const expected = items.filter((each) => each['h1']?.S === pk + h1 && each['r1']);
        const bySortKey = (list: Item[]) => [...list].sort((a, b) => order(a, b, 'sk'));
        expect(bySortKey(rows)).toEqual(bySortKey(expected));
        const ranges = rows.map(({ r1 }) => r1!.S!);
        expect(ranges).toEqual(reverse ? [...ranges].sort().reverse() : [...ranges].sort());
      }
    }),
    { numRuns: 60 },
  );
});

test('the segments of a scan have each item of the table once', async () => {
  await fill(['a', 'b', 'c']);
  const scan = async (Segment: number) => {
    const { Items } = await client.send(
      new ScanCommand({ TableName, IndexName: 'inverted', Segment, TotalSegments: 3, Limit: 100_000 }),
    );
    return Items!;
  };
  const segments = await Promise.all([0, 1, 2].map(scan));
  const whole = await client.send(new ScanCommand({ TableName, IndexName: 'inverted' }));
  expect(whole.LastEvaluatedKey).toBeUndefined();
  const name = (each: Item) => `${each['pk']!.S}/${each['sk']!.S}`;
  expect(segments.flat().map(name).sort()).toEqual(whole.Items!.map(name).sort());
});
