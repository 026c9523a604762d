import { setTimeout as sleep } from 'node:timers/promises';
import { RefConflict } from '../git/ports.ts';

export interface RetryLimits {
  /** The first one included. */
  readonly attempts?: number;
  /** Milliseconds; no attempt begins later than this. */
  readonly within?: number;
}

/**
 * Repeats an attempt that lost a race, after a jittered pause that grows.
 * @param lost whether an error says that another writer was first
 * @throws the last error
 */
export async function retryOnConflict<T>(
  attempt: () => Promise<T>,
  lost: (error: unknown) => boolean,
  { attempts = 20, within = 15_000 }: RetryLimits = {},
): Promise<T> {
  const deadline = performance.now() + within;
  for (let n = 1; ; n++) {
    try {
      return await attempt();
    } catch (error) {
      if (!lost(error) || n >= attempts || performance.now() > deadline) throw error;
    }
    await sleep(Math.random() * Math.min(400, 20 * 2 ** n));
  }
}

/** Another writer moved the ref, or a collection began. */
export const lostRef = (error: unknown): boolean =>
  error instanceof RefConflict &&
  error.rejections.every(({ reason }) => reason === 'stale' || reason === 'collected');
