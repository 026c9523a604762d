import { setImmediate, setTimeout } from 'node:timers/promises';

/** Others take this long, in milliseconds, when they have work of their own to do. */
const BUSY_MS = 5;
const MAX_PAUSE_MS = 250;

/**
 * Lets others run between two slices of work that nobody waits for. Where they have much to do, as requests have on a
 * host that is one process, it stands back for longer than they took.
 */
export async function giveWay(): Promise<void> {
  const began = performance.now();
  await setImmediate();
  const taken = performance.now() - began;
  if (taken > BUSY_MS) await setTimeout(Math.min(4 * taken, MAX_PAUSE_MS));
}
