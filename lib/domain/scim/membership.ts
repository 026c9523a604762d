/** Changes of the membership in a group by its identity provider. */

import type { MemberRecord } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { addMembershipWrites, removeMembershipWrites } from '../../store/scim/memberships.ts';
import type { Write } from '../../store/table/write.ts';
import { LEVEL_NAMES } from '../access/levels.ts';
import { auditedResource, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { prepareMemberHooks } from '../hook-events/members.ts';
import { targeting } from '../members/audit.ts';
import { membershipCascade } from '../members/cascade-removal.ts';
import { newMembershipMail } from '../notifications/enqueue.ts';
import type { ScimCaller } from './caller.ts';

/** For a transaction. */
export interface MembershipChange {
  readonly alongside: readonly Write[];
  readonly messages: readonly OutboxMessage[];
  /** Work after the transaction and before the response. */
  readonly finish?: () => Promise<void>;
}

export const STAYS: MembershipChange = { alongside: [], messages: [] };

type Person = Pick<UserRecord, 'name'>;

/** Prepares the membership of a user whose ID is not known yet. */
export async function addMembership(
  deps: Deps,
  { group, sso, author, baseUrl }: ScimCaller,
  user: Person,
): Promise<(userId: number) => MembershipChange> {
  const [event, tell] = await Promise.all([
    prepareAudited(deps, author),
    prepareMemberHooks(deps, { actorId: null, baseUrl }),
  ]);
  const now = deps.now().toISOString();
  return (userId) => {
    const record: MemberRecord = {
      source: { kind: 'group', id: group.id },
      userId,
      accessLevel: sso.defaultRole,
      createdAt: now,
      expiresAt: null,
      createdById: null,
    };
    const details = {
      add: 'user_access',
      as: LEVEL_NAMES[sso.defaultRole],
      ...targeting({ ...user, id: userId }),
    };
    return {
      alongside: [
        ...addMembershipWrites(record, now.slice(0, 10)),
        event({ entity: auditedResource('Group', group), details }),
      ],
      messages: [newMembershipMail(record, baseUrl), ...tell(group, record, 'add')],
    };
  };
}

/** Adds a membership unless the user is already a member. */
export async function restoreMembership(
  deps: Deps,
  caller: ScimCaller,
  user: UserRecord,
): Promise<MembershipChange> {
  const source = { kind: 'group', id: caller.group.id } as const;
  if ((await deps.store.members.get(source, user.id)) !== undefined) return STAYS;
  return (await addMembership(deps, caller, user))(user.id);
}

/** Ends the membership in the group and its descendants. @throws LastOwner */
export async function endMembership(
  deps: Deps,
  { group, author, baseUrl }: ScimCaller,
  user: UserRecord,
): Promise<MembershipChange> {
  const [removal, event, tell] = await Promise.all([
    removeMembershipWrites(deps.store, group.id, user.id),
    prepareAudited(deps, author),
    prepareMemberHooks(deps, { actorId: null, baseUrl }),
  ]);
  const details = { remove: 'user_access', ...targeting(user) };
  const ending =
    removal === undefined
      ? []
      : [...removal.writes, event({ entity: auditedResource('Group', group), details })];
  const messages = removal === undefined ? [] : tell(group, removal.member, 'remove');
  const { enqueue, finish } = membershipCascade(deps, group.id, user.id, author);
  return { alongside: [...ending, enqueue], messages, finish };
}
