/**
 * Memberships that end on a day. They give nothing from then on, whatever becomes of their rows; the promise written
 * with them has a worker take them away that day, and tell it.
 */

import { isExpired } from '../../records/expiry.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Put } from '../../store/table/write.ts';
import { audited, auditedSource, SYSTEM } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { membershipActivity } from '../events/record.ts';
import { targeting } from './audit.ts';

/** The maintenance queue's job that ends a membership: of whom, in what, and the day it was to end on. */
export const EXPIRY_JOB = 'member.expires';

/** Ends of one day are spread over so many seconds of it. */
const SPREAD = 3_600;

/** For the transaction that makes a membership or gives it an end; a bot's goes with its token. */
export function scheduleExpiry({ source, userId, expiresAt, bot }: MemberRecord): Put[] {
  if (expiresAt === null || bot === true) return [];
  const at = new Date(Date.parse(`${expiresAt}T00:00:00Z`) + (userId % SPREAD) * 1000);
  return [outboxWrite(messageAt(MAINTENANCE, EXPIRY_JOB, { ...source, userId, expiresAt }, at))];
}

/** Takes away a membership that was to end that day and still is. May come twice, late, or too early. */
export async function endMembership(
  deps: Deps,
  { userId, expiresAt, ...source }: MemberSource & { readonly userId: number; readonly expiresAt: string },
): Promise<void> {
  const { members, users, projects, groups, table } = deps.store;
  const [member, user, place] = await Promise.all([
    members.getEvenExpired(source, userId),
    users.get(userId),
    source.kind === 'project' ? projects.get(source.id) : groups.get(source.id),
  ]);
  // What is gone otherwise takes it along.
  if (member?.expiresAt !== expiresAt || user === undefined || place === undefined) return;
  if (!isExpired(member, deps.now())) return table.transact(scheduleExpiry(member));
  const entity = auditedSource(source.kind, place);
  const why = { system_event: true, reason: `access expired on ${expiresAt}` };
  const details = { remove: 'user_access', ...targeting(user), ...why };
  const alongside = [
    await audited(deps, SYSTEM, { entity, details }),
    ...(await membershipActivity(deps, source, userId, 'expired')),
  ];
  await members.expire(member, alongside).catch((error: unknown) => {
    if (!(error instanceof Missing)) throw error;
  });
}
