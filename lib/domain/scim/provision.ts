import type { UserRecord } from '../../records/users.ts';
import type { ScimIdentity } from '../../store/scim/identities.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { isExternalByDefault } from '../accounts/sign-up-rules.ts';
import { auditedUser, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { confirmationOf } from '../emails/confirmation.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import {
  freeUsername,
  fullNameOf,
  identitiesWith,
  isManaged,
  isTrusted,
  requireAllowedAddress,
  requireValidUser,
} from './account.ts';
import { attempted } from './attempt.ts';
import type { ScimAttributes } from './attributes.ts';
import { type ScimCaller, stillMay } from './caller.ts';
import { changed } from './change.ts';
import { enqueueConfirmation } from './confirmation.ts';
import { badRequest, notUnique } from './errors.ts';
import { addMembership, restoreMembership, STAYS } from './membership.ts';
import type { ScimUser } from './user.ts';

/**
 * Provisions a user. A deprovisioned user is reactivated; an existing account with the address joins the group; else an
 * account without a password is created.
 * @throws 400 `invalidValue`; 409 `uniqueness` for an active user, and for an address that its account has not
 *   confirmed; 429 for too many mails
 */
export function provision(deps: Deps, caller: ScimCaller, attributes: ScimAttributes): Promise<ScimUser> {
  const { externUid, userName, email } = attributes;
  if (externUid === undefined) throw badRequest('invalidValue', 'externalId is missing');
  if (userName === undefined) throw badRequest('invalidValue', 'userName is missing');
  if (email === undefined) throw badRequest('invalidValue', 'emails is missing');
  const names = { givenName: attributes.givenName ?? null, familyName: attributes.familyName ?? null };
  const name = fullNameOf(attributes, names) ?? userName;
  requireValidUser({ externUid, email, name });
  const displayName = attributes.displayName ?? null;
  const wanted = {
    ...names,
    displayName,
    externUid,
    userName,
    email,
    name,
    active: attributes.active ?? true,
  };
  return attempted(() => provisionOnce(deps, caller, wanted, attributes));
}

interface Wanted
  extends Pick<
    ScimIdentity,
    'externUid' | 'userName' | 'email' | 'givenName' | 'familyName' | 'displayName'
  > {
  readonly name: string;
  readonly active: boolean;
}

async function provisionOnce(
  deps: Deps,
  caller: ScimCaller,
  wanted: Wanted,
  attributes: ScimAttributes,
): Promise<ScimUser> {
  const { store } = deps;
  const { group } = caller;
  const [named, signingIn, holder] = await Promise.all([
    store.scimIdentities.get(group.id, wanted.externUid),
    store.scimIdentities.ofName(group.id, wanted.userName),
    store.users.byEmail(wanted.email),
  ]);
  const linked = holder && (await store.scimIdentities.ofUser(group.id, holder.id));
  const existing = named ?? linked;
  if (existing?.active) throw notUnique('User has already been taken');
  // A former user name at the provider may be reused only with the same address.
  if (signingIn !== undefined && signingIn.userId !== existing?.userId)
    throw notUnique('userName has already been taken');
  if (existing !== undefined)
    return changed(deps, caller, existing, { ...attributes, active: wanted.active });
  if (holder !== undefined) return joined(deps, caller, wanted, holder);
  return created(deps, caller, wanted);
}

const identityOf = (deps: Deps, { group }: ScimCaller, wanted: Wanted, userId: number): ScimIdentity => {
  const { name: _, ...identity } = wanted;
  const at = deps.now().toISOString();
  return { ...identity, groupId: group.id, userId, createdAt: at, updatedAt: at, version: 1 };
};

/** Joins an existing account; its address must be confirmed, as anyone can claim an address. */
async function joined(deps: Deps, caller: ScimCaller, wanted: Wanted, user: UserRecord): Promise<ScimUser> {
  const { store } = deps;
  const { group } = caller;
  const managed = isManaged(user, group);
  const mayJoin = managed || user.confirmedAt !== null || !sameName(user.email, wanted.email);
  if (user.type !== undefined || !mayJoin) throw notUnique('Email has already been taken');
  const identity = identityOf(deps, caller, wanted, user.id);
  const { alongside, messages } = wanted.active ? await restoreMembership(deps, caller, user) : STAYS;
  const writes = [...store.scimIdentities.create(identity), ...alongside, ...stillMay(deps, caller)];
  if (!managed || !wanted.active) {
    await store.outbox.commit([...writes, store.users.isThere(user.id)], messages);
    return { identity, user };
  }
  const identities = identitiesWith(user, group, wanted.externUid);
  const change = { profile: { ...user.profile, identities } };
  const options = { alongside: writes, messages, now: deps.now() };
  return { identity, user: await store.users.update(user, change, options) };
}

async function created(deps: Deps, caller: ScimCaller, wanted: Wanted): Promise<ScimUser> {
  await requireAllowedAddress(deps, wanted.email);
  const { store } = deps;
  const { group, sso, author, baseUrl } = caller;
  const { name, email, externUid } = wanted;
  const trusted = isTrusted(sso, email);
  if (!trusted) await enqueueConfirmation(deps, caller, email);
  const [settings, username, event, enters] = await Promise.all([
    deps.settings.current(),
    freeUsername(deps, wanted.userName),
    prepareAudited(deps, author),
    addMembership(deps, caller, { name }),
  ]);
  const now = deps.now();
  const external = await isExternalByDefault(settings, email);
  const identities = wanted.active ? identitiesWith({ profile: {} }, group, externUid) : [];
  const identity = identityOf(deps, caller, wanted, 0);
  const user = await store.users.create(
    {
      username,
      name,
      email,
      state: 'active',
      admin: false,
      external,
      privateProfile: false,
      canCreateGroup: !external,
      projectsLimit: external ? 0 : settings.default_projects_limit,
      confirmedAt: trusted ? now.toISOString() : null,
      lastActivityOn: null,
      passwordHash: null,
      profile: { provisioned_by_group_id: group.id, identities },
    },
    {
      now,
      about: (id) => {
        const entered = wanted.active ? enters(id) : STAYS;
        const confirmation = trusted
          ? undefined
          : confirmationOf(deps, { userId: id, emailId: null, email }, baseUrl);
        return {
          alongside: [
            ...store.scimIdentities.create({ ...identity, userId: id }),
            ...entered.alongside,
            ...(confirmation?.alongside ?? []),
            event({ entity: auditedUser({ id, username }), details: { add: 'user' } }),
            ...stillMay(deps, caller),
          ],
          messages: [...entered.messages, ...(confirmation?.messages ?? [addressConfirmed(email)])],
        };
      },
    },
  );
  return { identity: { ...identity, userId: user.id }, user };
}
