/** Identities of members at the provider of a group, and provisioned users, for the owners of the group. */

import type { GroupRecord } from '../../records/groups.ts';
import type { UserRecord } from '../../records/users.ts';
import type { ScimIdentity } from '../../store/scim/identities.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { type Identity, identitiesOf } from '../../store/users/item.ts';
import { OWNER } from '../access/levels.ts';
import type { GroupAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { type GroupWithSso, hasSso, PROVIDER, type ScimCaller } from './caller.ts';

/** Returns the user's identity at a group's provider. */
export const samlIdentityOf = (user: Pick<UserRecord, 'profile'>, groupId: number): Identity | undefined =>
  identitiesOf(user).find(({ saml_provider_id }) => saml_provider_id === groupId);

/** The top-level group, to which single sign-on belongs. */
export const topLevelGroupOf = ({ group, parents }: GroupAccess): GroupRecord => parents.at(-1) ?? group;

/** Whether the actor may see the identities of members. */
export const seesIdentities = (actor: Actor, access: GroupAccess): boolean =>
  hasSso(topLevelGroupOf(access)) && (isAdministrator(actor) || access.level >= OWNER);

/** Lists provisioned users by account ID. @throws 404 without a provider */
export async function scimIdentities(
  { store }: Deps,
  { group }: GroupAccess,
  { page, perPage }: PageRequest,
): Promise<Page<ScimIdentity>> {
  demandSso(group);
  const from = (page - 1) * perPage;
  const [total, items] = await Promise.all([
    store.scimIdentities.count(group.id),
    store.scimIdentities.list(group.id, from, perPage),
  ]);
  return { items, total, more: from + items.length < total };
}

/** @throws 404 */
export async function scimIdentity(
  { store }: Deps,
  { group }: GroupAccess,
  uid: string,
): Promise<ScimIdentity> {
  demandSso(group);
  const identity = await store.scimIdentities.get(group.id, uid);
  if (identity === undefined) throw notFound('Identity');
  return identity;
}

/** Lists users with an identity there, by account ID. @throws 404 without a provider */
export function samlUsers(
  { store }: Deps,
  { group }: GroupAccess,
  request: PageRequest,
): Promise<Page<UserRecord>> {
  demandSso(group);
  const signsIn = (user: UserRecord) => samlIdentityOf(user, group.id) !== undefined;
  return store.scimIdentities.accounts(group.id, request, signsIn);
}

/** @throws 404 */
export async function samlUser({ store }: Deps, { group }: GroupAccess, uid: string): Promise<UserRecord> {
  demandSso(group);
  const name = { provider: PROVIDER, extern_uid: uid, saml_provider_id: group.id };
  const user = await store.users.byIdentity(name);
  if (user === undefined) throw notFound('Identity');
  return user;
}

/** A caller for an owner who acts instead of the provider. @throws 404 without a provider */
export function scimCall(actor: Actor, { group }: GroupAccess, baseUrl: string): ScimCaller {
  demandSso(group);
  return { group, sso: group.sso, author: actor, baseUrl };
}

function demandSso(group: GroupRecord): asserts group is GroupWithSso {
  if (!hasSso(group)) throw notFound('SAML Provider');
}
