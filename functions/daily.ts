import { REFRESH_ALL_JOB } from '../lib/domain/billable-members/refresh.ts';
import { DORMANT_JOB } from '../lib/domain/users/dormant.ts';
import { MAINTENANCE, message } from '../lib/store/outbox/outbox.ts';
import { deps } from './deps.ts';

/** Each noon, UTC: the worker makes lists of billable members anew, and looks for people who were not here for long. */
export const handler = async () => {
  await deps().store.outbox.commit(
    [],
    [message(MAINTENANCE, REFRESH_ALL_JOB, {}), message(MAINTENANCE, DORMANT_JOB, {})],
  );
};
