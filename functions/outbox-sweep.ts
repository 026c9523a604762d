import { log } from '../lib/telemetry/log.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { deps } from './deps.ts';

/** Requests deliver their own messages at once: an older one was scheduled, or its request has crashed. */
const UNDELIVERED_AFTER_MS = 30_000;
const AREA = 'outbox-sweep';

/**
 * Sends scheduled messages that are due, and messages that a crash left undelivered after their commit. A manual
 * invocation may pass `{ "olderThan": milliseconds }`; 0 sends everything that is due.
 */
export const handler = async (event?: { olderThan?: number }) => {
  const { store, now } = deps();
  const report = await store.outbox.sweep(now(), event?.olderThan ?? UNDELIVERED_AFTER_MS);
  // Logged only if something was sent: it runs every minute, and log lines and metrics cost money.
  if (report.sent > 0) {
    log('info', 'swept', { area: AREA, ...report, MessagesSwept: report.sent });
    count(AREA, { MessagesSwept: report.sent });
  }
  return report;
};
