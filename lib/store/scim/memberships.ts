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
 * Removes a user from a top-level group, on condition that the membership is unchanged; no writes if the user is not a
 * member. Refused as `member` or `owner` when the membership changed meanwhile. @throws LastOwner
 */
export async function removeMembershipWrites(
  { members, groupOwners }: { readonly members: Members; readonly groupOwners: GroupOwners },
  groupId: number,
  userId: number,
): Promise<Write[]> {
  const source = { kind: 'group', id: groupId } as const;
  const existing = await members.get(source, userId);
  if (existing === undefined) return [];
  if (existing.accessLevel === OWNER) return groupOwners.ownerRemoval(groupId, userId);
  return [
    {
      delete: memberKey(source, userId),
      if: `${PRESENT} AND #accessLevel = :level`,
      values: { level: existing.accessLevel },
      reason: 'member',
    },
  ];
}
