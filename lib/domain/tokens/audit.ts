/** Audit events of tokens, recorded in the user, project or group that they give access to. */
import type { DeployTokenRecord, TokenRecord } from '../../records/tokens.ts';
import { type Audited, type AuditedEntity, auditedSource, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';

type Token = Pick<TokenRecord, 'id' | 'name' | 'scopes' | 'resource' | 'impersonation'>;

/** Actions on tokens, with their texts. */
export type TokenAction =
  | { readonly action: 'Created' }
  | { readonly action: 'Revoked'; readonly why?: string }
  | { readonly action: 'Rotated'; readonly newId: number };

export function auditedToken(entity: AuditedEntity, token: Token, what: TokenAction): Audited {
  const { id, name, scopes, resource } = token;
  const which = resource === undefined ? `with id ${id}` : `with token_id: ${id}`;
  const suffix =
    what.action === 'Rotated'
      ? `, replaced by id ${what.newId}`
      : what.action === 'Created'
        ? ` with scopes: ${scopes.join(', ')}`
        : (what.why ?? '');
  return {
    entity,
    details: {
      custom_message: `${what.action} ${kindOf(token)} ${which}${suffix}`,
      target_id: id,
      target_type: 'PersonalAccessToken',
      target_details: name,
    },
  };
}

export function auditedDeployToken(
  action: 'Created' | 'Destroyed',
  entity: AuditedEntity,
  { id, name, scopes, resource }: DeployTokenRecord,
): Audited {
  const which = `with name: ${name} with token_id: ${id} with scopes: ${scopes.join(', ')}`;
  return {
    entity,
    details: {
      custom_message: `${action} ${resource.kind} deploy token ${which}`,
      target_id: id,
      target_type: 'DeployToken',
      target_details: name,
    },
  };
}

export const kindOf = ({ resource, impersonation }: Pick<TokenRecord, 'resource' | 'impersonation'>) =>
  resource !== undefined
    ? `${resource.kind} access token`
    : impersonation === true
      ? 'impersonation token'
      : 'personal access token';

/** Returns what a token gives access to; undefined when that is deleted. */
export async function openedBy(
  { store }: Deps,
  { userId, resource }: Pick<TokenRecord, 'userId' | 'resource'>,
): Promise<AuditedEntity | undefined> {
  if (resource === undefined) {
    const user = await store.users.get(userId);
    return user && auditedUser(user);
  }
  const { kind, id } = resource;
  const place = kind === 'project' ? await store.projects.get(id) : await store.groups.get(id);
  return place && auditedSource(kind, place);
}
