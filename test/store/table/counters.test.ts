import { afterAll, beforeAll, expect, test } from 'vitest';
import { Counters } from '../../../lib/store/table/counters.ts';
import { openTestStore, type TestStore } from './store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

test('leased ids are unique across concurrent processes and callers', async () => {
  const processes = [1, 2, 3].map(() => new Counters(opened.store.table));
  const given = await Promise.all(
    processes.flatMap((counters) => Array.from({ length: 120 }, () => counters.leased('event'))),
  );
  expect(new Set(given).size).toBe(360);
  // A process leases no more than it needs: three blocks of fifty each.
  expect(Math.max(...given)).toBeLessThanOrEqual(450);
  expect(await processes[0]!.next('event')).toBe(451);
});

test('a lease of ids that fails is retried by the next caller', async () => {
  let failing = true;
  const { table } = opened.store;
  const flaky = Object.create(table) as typeof table;
  flaky.update = (write) => (failing ? Promise.reject(new Error('no table')) : table.update(write));
  const counters = new Counters(flaky);
  await expect(counters.leased('audit-event')).rejects.toThrow('no table');
  failing = false;
  expect(await counters.leased('audit-event')).toBe(1);
});
