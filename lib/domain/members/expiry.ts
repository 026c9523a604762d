/**
 * Memberships with an expiry date. They give no access from that day on, even while their rows exist. A message enqueued
 * with the membership has a worker remove the row on that day and record it.
 */

import { isExpired } from '../../records/expiry.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, messageAt, outboxWrite, outboxWrites } from '../../store/outbox/outbox.ts';
import type { Put } from '../../store/table/write.ts';
import { audited, auditedSource, SYSTEM } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { membershipActivity } from '../events/record.ts';
import { byNobody, prepareMemberHooks } from '../hook-events/members.ts';
import { targeting } from './audit.ts';

/** The maintenance job that removes an expired membership. Its body: the source, the user and the expiry date. */
export const EXPIRY_JOB = 'member.expires';

/** Seconds over which the expiries of one day are spread. */
const SPREAD = 3_600;

/** For the transaction that sets the expiry date of a membership. That of a bot ends with its token. */
export function scheduleExpiry({ source, userId, expiresAt, bot }: MemberRecord): Put[] {
  if (expiresAt === null || bot === true) return [];
  const at = new Date(Date.parse(`${expiresAt}T00:00:00Z`) + (userId % SPREAD) * 1000);
  return [outboxWrite(messageAt(MAINTENANCE, EXPIRY_JOB, { ...source, userId, expiresAt }, at))];
}

/** Removes a membership that still expires on that day. Idempotent; the job may also run late or too early. */
export async function endMembership(
  deps: Deps,
  { userId, expiresAt, ...source }: MemberSource & { readonly userId: number; readonly expiresAt: string },
): Promise<void> {
  const { members, users, projects, groups, outbox, table } = deps.store;
  const [member, user, resource] = await Promise.all([
    members.getEvenExpired(source, userId),
    users.get(userId),
    source.kind === 'project' ? projects.get(source.id) : groups.get(source.id),
  ]);
  // A deleted user or resource removes its memberships itself.
  if (member?.expiresAt !== expiresAt || user === undefined || resource === undefined) return;
  if (!isExpired(member, deps.now())) return table.transact(scheduleExpiry(member));
  const entity = auditedSource(source.kind, resource);
  const why = { system_event: true, reason: `access expired on ${expiresAt}` };
  const details = { remove: 'user_access', ...targeting(user), ...why };
  const tell = await prepareMemberHooks(deps, byNobody(deps));
  const told = tell(resource, member, 'remove');
  const alongside = [
    ...outboxWrites(told),
    await audited(deps, SYSTEM, { entity, details }),
    ...(await membershipActivity(deps, source, userId, 'expired')),
  ];
  try {
    await members.expire(member, alongside);
    await outbox.deliver(told);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
  }
}
