/** What a request reads of users, groups and projects, on a table that counts what it is asked. */
import { beforeEach, expect, test } from 'vitest';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { userKey } from '../../lib/store/row-keys/users.ts';
import { readingAnew, readingOnce } from '../../lib/store/table/read-once.ts';
import { Table } from '../../lib/store/table/table.ts';
import type { Answer, Operation } from '../../lib/store/table/table-client.ts';
import type { WireItem } from '../../lib/store/table/wire.ts';

const [PROJECT, GROUP, USER] = [projectKey(1), groupKey(2), userKey(3)];
const OTHER = { pk: 'OTHER#1', sk: 'OTHER' };
let asked: string[];
let table: Table;
beforeEach(() => {
  asked = [];
  const row = ({ pk, sk }: WireItem) => {
    const name = pk!['S'] as string;
    asked.push(name);
    return name === USER.pk ? undefined : { pk: pk!, sk: sk!, n: { N: String(asked.length) } };
  };
  // biome-ignore lint/suspicious/noExplicitAny: inputs of every operation
  const call = async (operation: Operation, input: any): Promise<Answer> => {
    if (operation === 'GetItem') {
      const item = row(input.Key);
      return item === undefined ? {} : { Item: item };
    }
    const keys: WireItem[] = input.RequestItems?.rows.Keys ?? [];
    return { Responses: { rows: keys.map(row).filter((item) => item !== undefined) } };
  };
  table = new Table({ call }, 'rows');
});

test('a request that changes nothing reads each record once, also one that is not there', async () => {
  const [first, second] = await readingOnce(async () => [
    await table.batchGet([PROJECT, GROUP, USER]),
    [await table.get(PROJECT), ...(await table.batchGet([GROUP, USER], { only: ['n'], consistent: false }))],
  ]);
  expect(second).toEqual(first);
  expect(asked).toEqual([PROJECT.pk, GROUP.pk, USER.pk]);
});

test('the next request reads them anew, and so does work outside of one', async () => {
  for (let i = 0; i < 2; i++) await readingOnce(() => table.get(PROJECT));
  for (let i = 0; i < 2; i++) await table.get(PROJECT);
  expect(asked).toHaveLength(4);
});

test('work whose result outlives the request reads them anew', async () => {
  await readingOnce(async () => {
    await table.get(PROJECT);
    await readingAnew(() => table.get(PROJECT));
  });
  expect(asked).toEqual([PROJECT.pk, PROJECT.pk]);
});

test('parts of rows, rows that may be late and rows of other partitions are not kept', async () => {
  await readingOnce(async () => {
    for (let i = 0; i < 2; i++) {
      await table.batchGet([GROUP], { only: ['n'] });
      await table.get(USER, { consistent: false });
      await table.get(OTHER);
    }
  });
  expect(asked).toHaveLength(6);
});

test('a request that reads very many records keeps those it began with', async () => {
  await readingOnce(async () => {
    for (let first = 1; first <= 1500; first += 100)
      await table.batchGet(Array.from({ length: 100 }, (_, i) => userKey(first + i)));
    asked = [];
    await table.batchGet([1, 1000, 1001, 1500].map(userKey));
  });
  expect(asked).toEqual([1001, 1500].map((id) => userKey(id).pk));
});

test('a request that writes such a record reads all of them as they then are', async () => {
  await readingOnce(async () => {
    await table.get(GROUP);
    await table.update({ update: OTHER, set: { n: 1 } });
    await table.get(GROUP);
    expect(asked).toHaveLength(1);
    await table.update({ update: PROJECT, set: { n: 1 } });
    for (let i = 0; i < 2; i++) await table.get(GROUP);
  });
  expect(asked).toHaveLength(3);
});
