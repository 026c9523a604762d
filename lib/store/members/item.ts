/** The row of a membership: writing, reading and changing it. */

import { isExpired } from '../../records/expiry.ts';
import type { AccessLevel, HeldMembership, MemberRecord, MemberSource } from '../../records/members.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { groupKey } from '../row-keys/groups.ts';
import { memberKey } from '../row-keys/members.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { ABSENT, type Check, type Item, PRESENT, type Put } from '../table/write.ts';

/** Row kinds in the index by user, for memberships of projects and of groups. */
export const ROW = { project: 'MEMBER', group: 'GROUPMEMBER' } as const;

/** Checks that the project or group exists, in a transaction that writes rows of it; refused as `project` or `group`. */
export const checkSourceExists = ({ kind, id }: MemberSource): Check =>
  kind === 'project' ? checkProjectExists(id) : groupLives(id);

const groupLives = (id: number): Check => ({
  check: groupKey(id),
  if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
  values: { null: 'NULL' },
  reason: 'group',
});

/** The condition that a membership is unchanged since it was read. */
export const checkUnchangedMember = ({ accessLevel, expiresAt }: MemberRecord) => ({
  if: `${PRESENT} AND #accessLevel = :was AND ${
    expiresAt === null ? 'attribute_type(#expiresAt, :null)' : '#expiresAt = :expires'
  }`,
  values: { was: accessLevel, ...(expiresAt === null ? { null: 'NULL' } : { expires: expiresAt }) },
});

export const changedMember = (
  previous: MemberRecord,
  { accessLevel, expiresAt }: { accessLevel: AccessLevel; expiresAt?: string | null },
): MemberRecord => ({ ...previous, accessLevel, ...(expiresAt === undefined ? {} : { expiresAt }) });

/** Attributes that a change of a membership writes. A worker deletes expired memberships, or else the table's TTL. */
export function membershipChange(change: { accessLevel: AccessLevel; expiresAt?: string | null }) {
  const { accessLevel, expiresAt } = change;
  return {
    set: { accessLevel, expiresAt, ...(expiresAt ? { ttl: keptUntil(expiresAt) } : {}) },
    ...(expiresAt === null ? { remove: ['ttl'] } : {}),
  };
}

/** A week after the expiry, so that a worker finds it before the TTL deletes it. */
const keptUntil = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000 + 7 * 86_400;

/** The row of a membership, for the transaction that creates it. */
export function memberWrite(member: MemberRecord): Put {
  const { source, userId, expiresAt } = member;
  return {
    put: {
      ...memberKey(source, userId),
      ...member,
      // A bot is deleted with its token, which deletes its membership too.
      ...(expiresAt === null || member.bot === true ? {} : { ttl: keptUntil(expiresAt) }),
      who: userPartition(userId),
      what: userRow(ROW[source.kind], source.id),
    },
    if: ABSENT,
    reason: 'member',
  };
}

export const unexpired = <M extends HeldMembership>(member: M | undefined): M | undefined =>
  member === undefined || isExpired(member) ? undefined : member;

export function fromItem(item: Item | undefined): MemberRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, ttl: _t, who: _o, what: _a, ...rest } = item;
  return rest as unknown as MemberRecord;
}
