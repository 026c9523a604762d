import { log } from '../lib/telemetry/log.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { deps } from './deps.ts';

/** A request delivers its own messages at once: what is older than this fell due, or was left behind. */
const LEFT_BEHIND_MS = 30_000;
const AREA = 'outbox-sweep';

/**
 * Sends what was dated ahead, and what a crash left between a commit and its queue. Invoked by hand it takes
 * `{ "olderThan": milliseconds }`, 0 for everything that is due.
 */
export const handler = async (event?: { olderThan?: number }) => {
  const { store, now } = deps();
  const report = await store.outbox.sweep(now(), event?.olderThan ?? LEFT_BEHIND_MS);
  // Said only where there was something: it runs each minute, and every line and metric costs.
  if (report.sent > 0) {
    log('info', 'swept', { area: AREA, ...report, MessagesSwept: report.sent });
    count(AREA, { MessagesSwept: report.sent });
  }
  return report;
};
