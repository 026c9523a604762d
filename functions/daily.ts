import { REFRESH_ALL_JOB } from '../lib/domain/billable-members/refresh.ts';
import { dueMessage } from '../lib/domain/issues/due.ts';
import { DORMANT_JOB } from '../lib/domain/users/dormant.ts';
import { MAINTENANCE, message } from '../lib/store/outbox/outbox.ts';
import { deps } from './deps.ts';

/**
 * Daily at noon, UTC: enqueues the refresh of the lists of billable members, the search for dormant users, and mail about
 * issues that are due on the next day.
 */
export const handler = async () => {
  await deps().store.outbox.commit(
    [],
    [message(MAINTENANCE, REFRESH_ALL_JOB, {}), message(MAINTENANCE, DORMANT_JOB, {}), dueMessage(deps())],
  );
};
