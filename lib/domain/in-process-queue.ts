import { setTimeout as sleep } from 'node:timers/promises';

/** By key: the latest work that waits or runs. */
const latest = new Map<string, Promise<void>>();

/**
 * Runs `work` after all work that this process began before under the same key, which saves lost races. It is no lock:
 * after `timeoutMs` milliseconds `work` runs anyway, and other processes are not serialized. What must not happen twice
 * needs a condition in the store.
 * @param work is told whether it had to wait: then what was read before may be out of date
 */
export async function serializeByKey<T>(
  key: string,
  timeoutMs: number,
  work: (waited: boolean) => Promise<T>,
): Promise<T> {
  const before = latest.get(key);
  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  latest.set(key, done);
  try {
    if (before !== undefined) {
      const timer = new AbortController();
      const timeout = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([before, timeout]);
      timer.abort();
    }
    return await work(before !== undefined);
  } finally {
    end();
    if (latest.get(key) === done) latest.delete(key);
  }
}
