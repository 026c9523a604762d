import { afterAll, beforeAll, expect, test } from 'vitest';
import { padded } from '../../../lib/store/row-keys/key.ts';
import { withSearchRows } from '../../../lib/store/search/search.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

const found = async (id: number, term: string) =>
  (await opened.store.search.find('project', term)).ids.filter((one) => padded(one) === padded(id));

test('search rows of a project deleted while a late worker indexes it are removed', async () => {
  const { search } = opened.store;
  let reads = 0;
  await search.index('project', 1, async () => {
    // The worker has read the name; now the project is deleted, and that message is handled first.
    if (reads++ > 0) return undefined;
    await search.index('project', 1, async () => undefined);
    return ['latecomer'];
  });
  expect(await found(1, 'latecomer')).toEqual([]);
});

test('a worker with an old name does not replace the rows of the new one', async () => {
  const { search } = opened.store;
  let reads = 0;
  await search.index('project', 2, async () => {
    if (reads++ > 0) return ['newname'];
    await search.index('project', 2, async () => ['newname']);
    return ['oldname'];
  });
  expect(await found(2, 'newname')).toEqual([2]);
  expect(await found(2, 'oldname')).toEqual([]);
});

test('search rows of a worker that crashed halfway are completed by the next one', async () => {
  // Its first write lists the rows it will write; then it crashes.
  let puts = 0;
  opened.dynamo.faults.onRequest = ({ operation }) =>
    operation === 'PutItem' && ++puts > 3 ? { fail: 'unreachable' } : undefined;
  await expect(opened.impatient.search.index('project', 3, async () => ['halfway'])).rejects.toThrow();
  opened.dynamo.faults.clear();
  await opened.store.search.index('project', 3, async () => ['halfway']);
  for (const term of ['h', 'ha', 'hal', 'way', 'halfway']) expect(await found(3, term)).toEqual([3]);
});

const renamedTo = async (id: number, name: string): Promise<boolean> => {
  let withRows = false;
  await withSearchRows(opened.store.table, { kind: 'project', id, texts: [name] }, 0, async (rows) => {
    withRows = rows.length > 0;
    await opened.store.table.transact([...rows, { put: { pk: `TEST#${id}`, sk: 'TEST' } }]);
  });
  return withRows;
};

test('renames in a row leave no search rows of the names between them', async () => {
  const { search } = opened.store;
  await search.index('project', 4, async () => ['alphaname']);
  for (const name of ['bravoname', 'charliename']) {
    expect(await renamedTo(4, name)).toBe(true);
    expect(await found(4, name)).toEqual([4]);
  }
  await search.index('project', 4, async () => ['charliename']);
  for (const name of ['alphaname', 'bravoname']) expect(await found(4, name)).toEqual([]);
  expect(await found(4, 'charliename')).toEqual([4]);
});

test('a rename while a worker writes rows of the former name is found in the end, by its new name alone', async () => {
  const { search } = opened.store;
  let reads = 0;
  await search.index('project', 5, async () => {
    if (reads++ === 0) await renamedTo(5, 'secondname');
    return [reads === 1 ? 'firstname' : 'secondname'];
  });
  expect(await found(5, 'secondname')).toEqual([5]);
  expect(await found(5, 'firstname')).toEqual([]);
});

test('a rename is not refused where the worker changed the rows meanwhile', async () => {
  const { search, table } = opened.store;
  await search.index('project', 6, async () => ['firstname']);
  const attempts: number[] = [];
  await withSearchRows(table, { kind: 'project', id: 6, texts: ['secondname'] }, 0, async (rows) => {
    attempts.push(rows.length);
    if (attempts.length === 1) await search.index('project', 6, async () => ['othername']);
    await table.transact([...rows, { put: { pk: 'TEST#6', sk: 'TEST' } }]);
  });
  expect(attempts).toEqual([expect.any(Number), 0]);
  expect(attempts[0]).toBeGreaterThan(1);
});
