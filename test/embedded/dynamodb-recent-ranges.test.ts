/** Ranges that were read lately, on the storage itself: what is kept of them, and that it is never older than a write. */
import { MemoryLevel } from 'memory-level';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Storage } from '../../local/aws/dynamodb/storage.ts';
import { random } from '../git/history-fixture.ts';

const partition = (n: number) => `i/t/00000${n}/P${n}/`;
const row = (n: number, key: string) => `${partition(n)}${key}/`;
const range = (n: number, reverse = false) => ({ gte: partition(n), lt: `${partition(n)}~`, reverse });

let storage: Storage;
let iterators: ReturnType<typeof vi.spyOn>;
beforeEach(async () => {
  storage = await Storage.open(undefined);
  iterators = vi.spyOn(MemoryLevel.prototype, 'iterator');
});
afterEach(async () => {
  await storage.close();
  vi.restoreAllMocks();
});

async function write(changes: Readonly<Record<string, string | null>>): Promise<void> {
  storage.stage(new Map(Object.entries(changes)));
  await storage.flushed();
}

async function read(n: number, limit = 10, reverse = false): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of storage.rows(range(n, reverse), limit))
    found.push(...rows.map(([, value]) => value));
  return found;
}

test('a range that was read is not looked for again, nor is an empty one', async () => {
  await write({ [row(1, 'a')]: '1', [row(1, 'b')]: '2' });
  for (let i = 0; i < 3; i++) {
    expect(await read(1)).toEqual(['1', '2']);
    expect(await read(1, 1, true)).toEqual(['2']);
    expect(await read(2)).toEqual([]);
  }
  expect(iterators).toHaveBeenCalledTimes(3);
});

test('after a write to its partition it is, and ranges of others are not', async () => {
  await write({ [row(1, 'a')]: '1', [row(2, 'a')]: '2' });
  expect([await read(1), await read(2)]).toEqual([['1'], ['2']]);
  await write({ [row(1, 'b')]: '3', [row(1, 'a')]: null });
  expect([await read(1), await read(2)]).toEqual([['3'], ['2']]);
  expect(iterators).toHaveBeenCalledTimes(3);
});

test('what is cleared is gone', async () => {
  await write({ [row(1, 'a')]: '1' });
  expect(await read(1)).toEqual(['1']);
  await storage.clear(range(1));
  expect(await read(1)).toEqual([]);
});

test('a long range is read each time, and comes whole', async () => {
  const rows = Array.from({ length: 700 }, (_, i) => [row(1, String(i).padStart(4, '0')), String(i)]);
  await write(Object.fromEntries(rows));
  for (let i = 0; i < 2; i++) expect(await read(1, 1000)).toEqual(rows.map(([, value]) => value));
  await write({ [row(2, 'a')]: 'x'.repeat(40_000) });
  for (let i = 0; i < 2; i++) expect(await read(2)).toHaveLength(1);
  expect(iterators).toHaveBeenCalledTimes(4);
});

test('names of ranges take their part of the memory', async () => {
  const readLong = async (n: number) => {
    const gte = `${partition(1)}${String(n).padStart(6_000, '0')}`;
    for await (const rows of storage.rows({ gte, lt: `${gte}~` }, 10)) expect(rows).toEqual([]);
  };
  for (let n = 0; n < 400; n++) await readLong(n);
  await readLong(399);
  expect(iterators).toHaveBeenCalledTimes(400);
  await readLong(0);
  expect(iterators).toHaveBeenCalledTimes(401);
});

test('a reader that begins after a write was acknowledged sees it, whatever else is read and written meanwhile', async () => {
  const next = random(3);
  const acknowledged = [0, 0, 0];
  const written = [0, 0, 0];
  const writer = async () => {
    for (let i = 0; i < 60; i++) {
      const n = next(3);
      const value = ++written[n]!;
      await write({ [row(n, 'a')]: String(value) });
      acknowledged[n] = Math.max(acknowledged[n]!, value);
    }
  };
  const reader = async () => {
    for (let i = 0; i < 300; i++) {
      const n = next(3);
      const least = acknowledged[n]!;
      const [value = '0'] = await read(n);
      expect(Number(value)).toBeGreaterThanOrEqual(least);
      if (next(4) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all([writer(), writer(), writer(), reader(), reader(), reader(), reader()]);
  for (const n of [0, 1, 2]) expect(await read(n)).toEqual([String(written[n])]);
});
