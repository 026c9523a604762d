import { setImmediate as nextTurn } from 'node:timers/promises';

interface Options {
  readonly load: (entry: string) => Promise<unknown>;
  readonly onError: (entry: string, error: unknown) => void;
  readonly signal: AbortSignal;
}

/**
 * Loads functions before they are asked for, one after another: the event loop turns between them, and no request waits
 * for one later.
 */
export async function loadAhead(
  entries: readonly string[],
  { load, onError, signal }: Options,
): Promise<void> {
  for (const entry of entries) {
    await nextTurn();
    if (signal.aborted) return;
    try {
      await load(entry);
    } catch (error) {
      if (!signal.aborted) onError(entry, error);
    }
  }
}
