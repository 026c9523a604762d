import { setTimeout as sleep } from 'node:timers/promises';

/** The latest turn of each key that is still waiting or at work. */
const latest = new Map<string, Promise<void>>();

/**
 * Runs `work` after what this process began before under the same key. Manners, not a lock: whoever has waited
 * `patience` milliseconds goes on anyway, and other processes know nothing of it. What must not happen twice needs a
 * condition in the store.
 * @param work is told whether it had to wait, so that what was read before may be out of date
 */
export async function inTurn<T>(
  key: string,
  patience: number,
  work: (waited: boolean) => Promise<T>,
): Promise<T> {
  const before = latest.get(key);
  const { promise: turn, resolve: end } = Promise.withResolvers<void>();
  latest.set(key, turn);
  try {
    if (before !== undefined) {
      const tired = new AbortController();
      const waited = sleep(patience, undefined, { signal: tired.signal }).catch(() => {});
      await Promise.race([before, waited]);
      tired.abort();
    }
    return await work(before !== undefined);
  } finally {
    end();
    if (latest.get(key) === turn) latest.delete(key);
  }
}
