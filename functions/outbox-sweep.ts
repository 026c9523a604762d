import { deps } from './deps.ts';

/** A request delivers its own messages at once: what is older than this was left behind. */
const LEFT_BEHIND_MS = 30_000;

/** Sends what a crash left between a commit and its queue. */
export const handler = async () => {
  const { store, now } = deps();
  return store.outbox.sweep(now(), LEFT_BEHIND_MS);
};
