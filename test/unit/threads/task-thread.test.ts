import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ThreadBusy } from '../../../lib/threads/busy.ts';
import { TaskThread } from '../../../lib/threads/task-thread.ts';

interface Task {
  readonly text: string;
  /** Told when the answer is on its way. */
  readonly answered?: Int32Array;
}

const codeOf = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

/** Answers each task with its text. */
const ECHO = codeOf(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ text, answered }) => {
      parentPort.postMessage(text);
      if (answered === undefined) return;
      Atomics.store(answered, 0, 1);
      Atomics.notify(answered, 0);
    });
    parentPort.postMessage(undefined);
  `);

/** Fails with every task. */
const failing = (code: string): URL =>
  codeOf(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => {
      throw Object.assign(new Error('failed'), { code: '${code}' });
    });
    parentPort.postMessage(undefined);
  `);

const LIMITS = { maxTime: 1000, maxHeap: 64 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('an answer that comes too late is not that to the next task', async () => {
  const thread = new TaskThread<Task, string>(ECHO, LIMITS);
  expect(await thread.run({ text: 'ready' })).toBe('ready');
  // Outside of the turn in which messages are received.
  await new Promise((resolve) => setImmediate(resolve));
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const late = thread.run({ text: 'late', answered });
  const next = thread.run({ text: 'next' });
  Atomics.wait(answered, 0, 0);
  vi.advanceTimersByTime(1000);
  expect(await late).toBeUndefined();
  expect(await next).toBe('next');
});

test('a thread that does not start says nothing of the task', async () => {
  const thread = new TaskThread<Task, string>(codeOf('setInterval(() => {}, 1000);'), LIMITS);
  const asked = thread.run({ text: 'one' });
  vi.advanceTimersByTime(10_000);
  await expect(asked).rejects.toThrow(ThreadBusy);
});

test('a thread that has no code says nothing of the task', async () => {
  const thread = new TaskThread<Task, string>(new URL('file:///absent.mjs'), LIMITS);
  await expect(thread.run({ text: 'one' })).rejects.toThrow(ThreadBusy);
});

test('a thread that fails says nothing of the task, but for one that takes more memory than it may', async () => {
  const failed = new TaskThread<Task, string>(failing('ERR_OTHER'), LIMITS);
  await expect(failed.run({ text: 'one' })).rejects.toThrow(ThreadBusy);
  const full = new TaskThread<Task, string>(failing('ERR_WORKER_OUT_OF_MEMORY'), LIMITS);
  expect(await full.run({ text: 'one' })).toBeUndefined();
});

test('a task for which there is no room is not done', async () => {
  const thread = new TaskThread<Task, string>(ECHO, LIMITS);
  const asked = Array.from({ length: 18 }, (_, i) => thread.run({ text: String(i) }));
  await expect(asked[17]).rejects.toThrow(ThreadBusy);
  expect(await Promise.all(asked.slice(0, 17))).toHaveLength(17);
});
