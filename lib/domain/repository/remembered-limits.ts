import { LimitExceeded } from '../../git/work.ts';

/** Milliseconds for which an answer is refused at once that passed a limit before. */
const REMEMBERED_MS = 5 * 60_000;
const MAX_REMEMBERED = 1000;

const passed = new Map<string, { readonly reason: string; readonly until: number }>();

/**
 * Runs a read that a hostile repository can make expensive. One that passed a limit is refused at once for some minutes:
 * the same question about the same objects would do the same work and end in the same way. Each process remembers its
 * own, as this saves work and decides nothing.
 *
 * @param question what was asked about which immutable objects of which repository
 * @throws LimitExceeded
 */
export async function rememberingLimits<T>(question: readonly string[], read: () => Promise<T>): Promise<T> {
  const key = question.join('\0');
  const before = passed.get(key);
  if (before !== undefined && performance.now() < before.until) throw new LimitExceeded(before.reason);
  try {
    return await read();
  } catch (error) {
    if (error instanceof LimitExceeded) {
      passed.delete(key);
      if (passed.size >= MAX_REMEMBERED) passed.delete(passed.keys().next().value!);
      // The error itself would keep what its stack refers to: all that the read had collected.
      passed.set(key, { reason: error.message, until: performance.now() + REMEMBERED_MS });
    }
    throw error;
  }
}
