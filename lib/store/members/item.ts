/** The row of a membership: how it is written, read and changed. */

import { isExpired } from '../../records/expiry.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { groupKey } from '../row-keys/groups.ts';
import { memberKey } from '../row-keys/members.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { ABSENT, type Check, type Item, PRESENT, type Put } from '../table/write.ts';

/** The row of the index by users, by what it is a membership of. */
export const ROW = { project: 'MEMBER', group: 'GROUPMEMBER' } as const;

/** That the project or group is there, for a transaction that writes something of it; refused as `project` or `group`. */
export const checkSourceExists = ({ kind, id }: MemberSource): Check =>
  kind === 'project' ? checkProjectExists(id) : groupLives(id);

const groupLives = (id: number): Check => ({
  check: groupKey(id),
  if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
  values: { null: 'NULL' },
  reason: 'group',
});

/** The condition that a membership is as it was read. */
export const checkUnchangedMember = ({ accessLevel, expiresAt }: MemberRecord) => ({
  if: `${PRESENT} AND #accessLevel = :was AND ${
    expiresAt === null ? 'attribute_type(#expiresAt, :null)' : '#expiresAt = :expires'
  }`,
  values: { was: accessLevel, ...(expiresAt === null ? { null: 'NULL' } : { expires: expiresAt }) },
});

export const changedMember = (
  was: MemberRecord,
  { accessLevel, expiresAt }: { accessLevel: AccessLevel; expiresAt?: string | null },
): MemberRecord => ({ ...was, accessLevel, ...(expiresAt === undefined ? {} : { expiresAt }) });

/** What a change of a membership writes. A worker takes away what has expired, or else the table does. */
export function membershipChange(change: { accessLevel: AccessLevel; expiresAt?: string | null }) {
  const { accessLevel, expiresAt } = change;
  return {
    set: { accessLevel, expiresAt, ...(expiresAt ? { ttl: keptUntil(expiresAt) } : {}) },
    ...(expiresAt === null ? { remove: ['ttl'] } : {}),
  };
}

/** A week behind the end, in which a worker finds it: see `member-expiry.ts`. */
const keptUntil = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000 + 7 * 86_400;

/** The row of a membership, for the transaction that makes it. */
export function memberWrite(member: MemberRecord): Put {
  const { source, userId, expiresAt } = member;
  return {
    put: {
      ...memberKey(source, userId),
      ...member,
      // A bot goes with its token, which takes its membership along.
      ...(expiresAt === null || member.bot === true ? {} : { ttl: keptUntil(expiresAt) }),
      who: userPartition(userId),
      what: userRow(ROW[source.kind], source.id),
    },
    if: ABSENT,
    reason: 'member',
  };
}

export const unexpired = (member: MemberRecord | undefined): MemberRecord | undefined =>
  member === undefined || isExpired(member) ? undefined : member;

export function fromItem(item: Item | undefined): MemberRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, ttl: _t, who: _o, what: _a, ...rest } = item;
  return rest as unknown as MemberRecord;
}
