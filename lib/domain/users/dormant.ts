/** Deactivates dormant users, if the setting is on. */

import type { UserRecord } from '../../records/users.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { changeUser } from '../accounts/accounts.ts';
import { SYSTEM } from '../audit-events/event.ts';
import { dayBefore } from '../days.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { deactivation } from './deactivation.ts';

/** The daily maintenance job. */
export const DORMANT_JOB = 'users.dormant';

/** Users read together, and users deactivated together. */
const PAGE = 100;
const CONCURRENT_CHANGES = 10;

export interface Walk {
  /** ID of the last user processed; 0 at the start. */
  readonly after: number;
}

/**
 * Reads active users by creation time, until the first who is too new to be dormant. Idempotent; runs of several days may
 * overlap.
 * @param deadline milliseconds since 1970; no page is started after it
 * @returns where to continue; undefined at the end, or when the setting is off
 */
export async function deactivateDormant(
  deps: Deps,
  { after }: Walk,
  deadline: number,
): Promise<Walk | undefined> {
  const { deactivate_dormant_users: on, deactivate_dormant_users_period: days } =
    await deps.settings.current();
  if (!on) return undefined;
  const last = dayBefore(deps.now(), days);
  for (let idAfter = after; ; ) {
    if (Date.now() > deadline) return { after: idAfter };
    const request = { order: 'id', direction: 'asc', states: ['active'], service: false } as const;
    const { items } = await deps.store.users.list({ ...request, idAfter, page: 1, perPage: PAGE });
    const dormant = items.filter((user) => isDormant(user, last));
    await mapLimit(CONCURRENT_CHANGES, dormant, ({ id }) => deactivate(deps, id, last));
    const end = items.at(-1);
    if (end === undefined || end.createdAt.slice(0, 10) > last) return undefined;
    idAfter = end.id;
  }
}

/** Whether a user is dormant: no administrator, and neither active nor created nor reactivated recently. */
const isDormant = (user: UserRecord, last: string): boolean =>
  user.state === 'active' &&
  user.type === undefined &&
  !user.admin &&
  [user.createdAt.slice(0, 10), user.activatedOn, user.lastActivityOn].every((day) => (day ?? '') <= last);

async function deactivate(deps: Deps, id: number, last: string): Promise<void> {
  const decide = async (user: UserRecord) =>
    isDormant(user, last)
      ? { ...(await deactivation(deps, SYSTEM, user)), lastHereOn: user.lastActivityOn }
      : undefined;
  await changeUser(deps, id, decide).catch((error: unknown) => {
    // Deleted, or changed repeatedly: retried by the next daily run.
    if (!(error instanceof DomainError)) throw error;
  });
}
