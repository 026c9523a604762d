import { deps } from './deps.ts';

/** A request delivers its own messages at once: what is older than this was left behind. */
const LEFT_BEHIND_MS = 30_000;

/**
 * Sends what a crash left between a commit and its queue. Invoked by hand it takes `{ "olderThan": milliseconds }`,
 * 0 for everything that is due.
 */
export const handler = async (event?: { olderThan?: number }) => {
  const { store, now } = deps();
  return store.outbox.sweep(now(), event?.olderThan ?? LEFT_BEHIND_MS);
};
