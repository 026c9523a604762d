import type { Context } from 'aws-lambda';
import { log } from '../lib/telemetry/log.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { deps } from './deps.ts';

/** Requests deliver their own messages at once: an older one was scheduled, or its request has crashed. */
const UNDELIVERED_AFTER_MS = 30_000;
/** What is left of the function's time when no further page begins. */
const RESERVE_MS = 20_000;
const AREA = 'outbox-sweep';

/**
 * Sends scheduled messages that are due, and messages that a crash left undelivered after their commit: page after page,
 * until none is left or its time is nearly over. A manual invocation may pass `{ "olderThan": milliseconds }`; 0 sends
 * everything that is due.
 */
export const handler = async (
  event?: { olderThan?: number },
  context?: Pick<Context, 'getRemainingTimeInMillis'>,
) => {
  const { store, now } = deps();
  const olderThan = event?.olderThan ?? UNDELIVERED_AFTER_MS;
  let sent = 0;
  let more = true;
  try {
    do {
      const report = await store.outbox.sweep(now(), olderThan);
      sent += report.sent;
      more = report.more;
    } while (more && (context?.getRemainingTimeInMillis() ?? 0) > RESERVE_MS);
  } finally {
    // Logged only if something was sent: it runs every minute, and log lines and metrics cost money.
    if (sent > 0) {
      log('info', 'swept', { area: AREA, sent, more, MessagesSwept: sent });
      count(AREA, { MessagesSwept: sent });
    }
  }
  return { sent, more };
};
