import { afterAll, beforeAll, expect, test } from 'vitest';
import { padded } from '../../../lib/store/row-keys/key.ts';
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
