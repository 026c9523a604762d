/** Audit events of memberships, recorded in their project or group. */
import type { MemberRecord } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Put } from '../../store/table/write.ts';
import { LEVEL_NAMES } from '../access/levels.ts';
import { type AuditAuthor, type AuditedEntity, audited, auditedResource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import type { MembershipResource } from './list.ts';

type Membership = Pick<MemberRecord, 'accessLevel' | 'expiresAt'>;
type Person = Pick<UserRecord, 'id' | 'name'>;

export const entityOf = (resource: MembershipResource): AuditedEntity =>
  'project' in resource
    ? auditedResource('Project', resource.project)
    : auditedResource('Group', resource.group);

export const memberAdded = (
  deps: Deps,
  author: AuditAuthor,
  entity: AuditedEntity,
  user: Person,
  { accessLevel, expiresAt }: Membership,
): Promise<Put> =>
  audited(deps, author, {
    entity,
    details: {
      add: 'user_access',
      as: LEVEL_NAMES[accessLevel],
      ...targeting(user),
      expiry_to: expiresAt ?? undefined,
    },
  });

/** @returns an empty list when nothing changes */
export async function memberChanged(
  deps: Deps,
  author: AuditAuthor,
  entity: AuditedEntity,
  user: Person,
  { previous, next }: { readonly previous: Membership; readonly next: Membership },
): Promise<Put[]> {
  if (previous.accessLevel === next.accessLevel && previous.expiresAt === next.expiresAt) return [];
  return [
    await audited(deps, author, {
      entity,
      details: {
        change: 'access_level',
        from: LEVEL_NAMES[previous.accessLevel],
        to: LEVEL_NAMES[next.accessLevel],
        ...targeting(user),
        expiry_from: previous.expiresAt,
        expiry_to: next.expiresAt,
      },
    }),
  ];
}

export const memberRemoved = (
  deps: Deps,
  author: AuditAuthor,
  entity: AuditedEntity,
  user: Person,
): Promise<Put> => audited(deps, author, { entity, details: { remove: 'user_access', ...targeting(user) } });

export const targeting = ({ id, name }: Person) => ({
  target_id: id,
  target_type: 'User',
  target_details: name,
});
