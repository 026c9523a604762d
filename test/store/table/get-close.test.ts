import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Key, padded } from '../../../lib/store/row-keys/key.ts';
import { getClose } from '../../../lib/store/table/get-close.ts';
import { measured, openTestStore, type TestStore } from './store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  const rows = ['close', 'other'].flatMap((pk) =>
    Array.from({ length: 300 }, (_, i) => ({ ...key(i, pk), text: `${pk} ${i}`, rest: 'x'.repeat(600) })),
  );
  await opened.store.table.putAll(rows.filter(({ sk }) => sk !== key(7).sk));
});
afterAll(() => opened.close());

const key = (n: number, pk = 'close'): Key => ({ pk, sk: `ROW#${padded(n)}` });
const read = (keys: readonly Key[]) => measured(opened, () => getClose(opened.store.table, keys, ['text']));
const from = (first: number, count: number, step = 1) =>
  Array.from({ length: count }, (_, i) => key(first + i * step));

describe('rows are read by their keys', () => {
  test('those with numbers close to each other by their bytes, in the order asked for', async () => {
    const { value, units, requests } = await read(from(100, 20).toReversed());
    expect(value.map((row) => row?.['text'])).toEqual(
      Array.from({ length: 20 }, (_, i) => `close ${119 - i}`),
    );
    expect(Object.keys(value[0]!).sort()).toEqual(['pk', 'sk', 'text']);
    expect(requests).toBe(1);
    expect(units).toBeLessThan(5);
  });

  test('those that lie between are left out, and what is not there is undefined', async () => {
    const { value, requests } = await read(from(1, 10, 2).slice(0, 9));
    expect(value.map((row) => row?.['text'])).toEqual(
      [1, 3, 5, undefined, 9, 11, 13, 15, 17].map((n) => (n === undefined ? n : `close ${n}`)),
    );
    expect(requests).toBe(1);
  });

  test.each([
    ['far from each other', from(0, 20, 10)],
    ['few', from(100, 4)],
  ])('%s, by a batch', async (_, keys) => {
    const { value, units, requests } = await read(keys);
    expect(value.map((row) => row?.['sk'])).toEqual(keys.map(({ sk }) => sk));
    expect([requests, units]).toEqual([1, keys.length]);
  });

  test('of several partitions each in its way, and one asked for twice comes twice', async () => {
    const keys = [...from(100, 10), key(3, 'other'), key(100)];
    const { value, requests } = await read(keys);
    expect(value.map((row) => row?.['text'])).toEqual(
      keys.map(({ pk, sk }) => `${pk} ${Number(sk.slice(-12))}`),
    );
    expect(requests).toBe(2);
  });

  test('many in several ranges at once, and those of very many partitions by batches', async () => {
    const many = await read(from(10, 250));
    expect(many.value.every((row) => row !== undefined)).toBe(true);
    expect(many.requests).toBe(10);
    const spread = Array.from({ length: 10 }, (_, i) =>
      from(100, 5).map(({ sk }) => ({ pk: `part ${i}`, sk })),
    );
    const none = await read(spread.flat());
    expect([none.requests, none.value.length]).toEqual([1, 50]);
  });

  test('none of none', async () => {
    expect(await read([])).toMatchObject({ value: [], requests: 0 });
  });
});
