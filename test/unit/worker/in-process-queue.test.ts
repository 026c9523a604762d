import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { serializeByKey } from '../../../lib/domain/in-process-queue.ts';

test('work under one key runs in order, one at a time; other keys do not wait', async () => {
  const log: string[] = [];
  const job = (name: string, ms: number) => async () => {
    log.push(`${name} begins`);
    await sleep(ms);
    log.push(`${name} ends`);
    return name;
  };
  const answers = await Promise.all([
    serializeByKey('key', 5000, job('first', 30)),
    serializeByKey('key', 5000, job('second', 1)),
    serializeByKey('key', 5000, job('third', 1)),
    serializeByKey('other', 5000, job('other', 1)),
  ]);
  expect(answers).toEqual(['first', 'second', 'third', 'other']);
  expect(log.filter((line) => !line.startsWith('other'))).toEqual(
    ['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
  expect(log.indexOf('other ends')).toBeLessThan(log.indexOf('first ends'));
});

test('a failed task does not affect the next one', async () => {
  const failed = serializeByKey('fails', 5000, () => Promise.reject(new Error('mine')));
  const next = serializeByKey('fails', 5000, async () => 'fine');
  await expect(failed).rejects.toThrow('mine');
  expect(await next).toBe('fine');
});

test('work that waited for the timeout runs anyway', async () => {
  const { promise: stuck, resolve: release } = Promise.withResolvers<void>();
  const first = serializeByKey('stuck', 5000, () => stuck);
  expect(await serializeByKey('stuck', 20, async () => 'went on')).toBe('went on');
  release();
  await first;
  expect(await serializeByKey('stuck', 5000, async () => 'free')).toBe('free');
});
