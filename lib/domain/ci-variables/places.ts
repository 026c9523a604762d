/** Where variables are managed: the instance, a group, a project. */

import type { VariableOwner } from '../../records/ci-variables.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { type AuditedEntity, auditedResource, auditedUser } from '../audit-events/event.ts';

export interface VariablePlace {
  readonly owner: VariableOwner;
  /** What audit events of its variables are about; of those of the instance, the administrator. */
  readonly entity: AuditedEntity;
}

export const placeOfInstance = ({ user }: Extract<Actor, { kind: 'user' }>): VariablePlace => ({
  owner: { kind: 'instance' },
  entity: auditedUser(user),
});

export const placeOf = (access: ProjectAccess | GroupAccess): VariablePlace =>
  'project' in access
    ? {
        owner: { kind: 'project', id: access.project.id },
        entity: auditedResource('Project', access.project),
      }
    : { owner: { kind: 'group', id: access.group.id }, entity: auditedResource('Group', access.group) };
