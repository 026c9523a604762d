/** People who were not here for long are deactivated, where an administrator has it so. */

import type { UserRecord } from '../../records/users.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { changeUser } from '../accounts/accounts.ts';
import { SYSTEM } from '../audit-events/event.ts';
import { dayBefore } from '../days.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { deactivation } from './deactivation.ts';

/** The daily job of the maintenance queue. */
export const DORMANT_JOB = 'users.dormant';

/** Users that are read together, and of them deactivated together. */
const PAGE = 100;
const AT_ONCE = 10;

export interface Walk {
  /** The id of the last user that was looked at; 0: none yet. */
  readonly after: number;
}

/**
 * Looks at active users, those who came first before the others, until the first who came too late to be dormant. May
 * come twice, or go on after another day's walk began.
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end, and where it is switched off
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
    await mapLimit(AT_ONCE, dormant, ({ id }) => deactivate(deps, id, last));
    const end = items.at(-1);
    if (end === undefined || end.createdAt.slice(0, 10) > last) return undefined;
    idAfter = end.id;
  }
}

/** Nobody who could let the others in again, and none who came, or was let in again, as late as that. */
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
    // Gone, or changed again and again: tomorrow is another day.
    if (!(error instanceof DomainError)) throw error;
  });
}
