import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../../lib/store/errors.ts';
import { Fetches } from '../../../lib/store/statistics/fetches.ts';
import type { Table } from '../../../lib/store/table/table.ts';

/** A table whose writes end when they are told to. */
function slowTable() {
  const adds: number[] = [];
  const ends: { resolve(item: object): void; reject(error: unknown): void }[] = [];
  const update = (write: { add: { count: number } }) => {
    adds.push(write.add.count);
    return new Promise((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { adds, ends, fetches: new Fetches({ update } as unknown as Table) };
}
const now = new Date('2026-11-22T12:00:00Z');
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('fetches that come while another one is written are written together', async () => {
  const { adds, ends, fetches } = slowTable();
  const first = fetches.count(1, now);
  await Promise.all([fetches.count(1, now), fetches.count(1, now)]);
  const other = fetches.count(2, now);
  expect(adds).toEqual([1, 1]);
  for (const { resolve } of ends.splice(0)) resolve({});
  await other;
  await turn();
  expect(adds).toEqual([1, 1, 2]);
  ends[0]!.resolve({});
  await first;
  const next = fetches.count(1, now);
  expect(adds).toEqual([1, 1, 2, 1]);
  ends[1]!.resolve({});
  await next;
});

test('a write that fails is no error, and the next fetch is counted', async () => {
  const { adds, ends, fetches } = slowTable();
  const first = fetches.count(1, now);
  ends.pop()!.reject(new StoreUnavailable(false, undefined));
  await first;
  const second = fetches.count(1, now);
  ends.pop()!.resolve({});
  await second;
  expect(adds).toEqual([1, 1]);
});
