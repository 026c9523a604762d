import { setImmediate, setTimeout } from 'node:timers/promises';

/** Milliseconds: a turn of the event loop that takes longer means that other work is waiting. */
const BUSY_MS = 5;
const MAX_PAUSE_MS = 250;

/**
 * Yields to other work between two slices of background work. If the process is busy, as with requests on a
 * single-process host, pauses for longer than the other work took.
 */
export async function giveWay(): Promise<void> {
  const began = performance.now();
  await setImmediate();
  const taken = performance.now() - began;
  if (taken > BUSY_MS) await setTimeout(Math.min(4 * taken, MAX_PAUSE_MS));
}
