import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TaskThread } from '../../../lib/threads/task-thread.ts';

interface Task {
  readonly text: string;
  /** Told when the answer is on its way. */
  readonly answered?: Int32Array;
}

/** Answers each task with its text. */
const ECHO = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ text, answered }) => {
      parentPort.postMessage(text);
      if (answered === undefined) return;
      Atomics.store(answered, 0, 1);
      Atomics.notify(answered, 0);
    });
    parentPort.postMessage(undefined);
  `)}`,
);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('an answer that comes too late is not that to the next task', async () => {
  const thread = new TaskThread<Task, string>(ECHO, { maxTime: 1000, maxHeap: 64 });
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
