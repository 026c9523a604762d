import { constants } from 'node:os';
import type { Host } from './host.ts';

/** Later than `Host.stop` takes: only what blocks the process, or a closing that never ends, can be in its way. */
const LAST_RESORT_MS = 9_500;

/** Stops the host on the first SIGINT or SIGTERM, and ends the process at once on the second. */
export function stopOnSignals(host: Host): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(128 + constants.signals[signal]);
      stopping = true;
      setTimeout(() => process.exit(0), LAST_RESORT_MS);
      void host.stop().then(() => process.exit(0));
    });
  }
}
