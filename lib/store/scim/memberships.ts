/** Memberships that an identity provider adds and removes: writes for the transactions of its accounts. */

import type { AccessLevel, MemberRecord } from '../../records/members.ts';
import type { GroupOwners } from '../groups/owners.ts';
import { memberWrite } from '../members/item.ts';
import type { Members } from '../members/members.ts';
import { accessRequestKey } from '../row-keys/access-requests.ts';
import { memberKey } from '../row-keys/members.ts';
import { ABSENT, PRESENT, type Write } from '../table/write.ts';

const OWNER = 50 satisfies AccessLevel;

/** Adds a user to a group who is not a member of it; refused as `member` when the user became one meanwhile. */
export function addMembershipWrites(member: MemberRecord, today: string): Write[] {
  return [
    // An expired membership counts as none.
    { ...memberWrite(member), if: `${ABSENT} OR #expiresAt <= :today`, values: { today } },
    { delete: accessRequestKey(member.source, member.userId) },
  ];
}

/**
 * Removes a user from a top-level group, on condition that the membership is unchanged; undefined if the user is not a
 * member. Refused as `member` or `owner` when the membership changed meanwhile. @throws LastOwner
 */
export async function removeMembershipWrites(
  { members, groupOwners }: { readonly members: Members; readonly groupOwners: GroupOwners },
  groupId: number,
  userId: number,
): Promise<{ readonly member: MemberRecord; readonly writes: Write[] } | undefined> {
  const source = { kind: 'group', id: groupId } as const;
  const member = await members.get(source, userId);
  if (member === undefined) return undefined;
  if (member.accessLevel === OWNER)
    return { member, writes: await groupOwners.ownerRemoval(groupId, userId) };
  const removal = {
    delete: memberKey(source, userId),
    if: `${PRESENT} AND #accessLevel = :level`,
    values: { level: member.accessLevel },
    reason: 'member',
  };
  return { member, writes: [removal] };
}
