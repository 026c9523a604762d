/** Atomic changes of provisioned users, with their account and membership. */

import type { UserRecord } from '../../records/users.ts';
import type { ScimIdentity } from '../../store/scim/identities.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { UserChange } from '../../store/users/users.ts';
import { withoutAddress } from '../accounts/addresses.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { confirmationOf } from '../emails/confirmation.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import { helpNamespaceMove, namespaceMove } from '../namespaces/rename.ts';
import type { Mover } from '../notifications/enqueue.ts';
import { addressMails } from '../users/account-mail.ts';
import { auditedChange } from '../users/audit.ts';
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
import { enqueueConfirmation } from './confirmation.ts';
import { noResource, notUnique } from './errors.ts';
import { samlIdentityOf } from './group-identities.ts';
import { endMembership, type MembershipChange, restoreMembership, STAYS } from './membership.ts';
import type { ScimUser } from './user.ts';

/**
 * Changes a provisioned user. Name, username and address are applied only to accounts that the provider created.
 * @throws 404; 400 `invalidValue`; 409 `uniqueness`, and for removing the last owner of the group
 */
export function changeUser(
  deps: Deps,
  caller: ScimCaller,
  externUid: string,
  attributes: ScimAttributes,
): Promise<ScimUser> {
  return attempted(async () => changed(deps, caller, await identityOf(deps, caller, externUid), attributes));
}

/** Deprovisions a user: ends the membership and keeps contributions. @throws 404; 409 for the last owner */
export function removeUser(deps: Deps, caller: ScimCaller, externUid: string): Promise<void> {
  return attempted(async () => {
    const previous = await identityOf(deps, caller, externUid);
    const user = await accountOf(deps, previous);
    const movement = previous.active ? await endMembership(deps, caller, user) : STAYS;
    const change = signsIn(caller, user, undefined);
    const writes = deps.store.scimIdentities.remove(previous);
    await written(deps, caller, user, change, {
      alongside: [...writes, ...movement.alongside],
      messages: movement.messages,
    });
    await movement.finish?.();
  });
}

async function identityOf({ store }: Deps, { group }: ScimCaller, externUid: string): Promise<ScimIdentity> {
  const identity = await store.scimIdentities.get(group.id, externUid);
  if (identity === undefined) throw noResource(externUid);
  return identity;
}

async function accountOf({ store }: Deps, { userId, externUid }: ScimIdentity): Promise<UserRecord> {
  const user = await store.users.get(userId);
  // A worker is about to delete the identity.
  if (user === undefined) throw noResource(externUid);
  return user;
}

/** One attempt. */
export async function changed(
  deps: Deps,
  caller: ScimCaller,
  previous: ScimIdentity,
  attributes: ScimAttributes,
): Promise<ScimUser> {
  const user = await accountOf(deps, previous);
  const names = {
    givenName: attributes.givenName === undefined ? previous.givenName : attributes.givenName,
    familyName: attributes.familyName === undefined ? previous.familyName : attributes.familyName,
  };
  const name = fullNameOf(attributes, names);
  requireValidUser({ externUid: attributes.externUid, email: attributes.email, name });
  const now = deps.now().toISOString();
  const next: ScimIdentity = {
    ...previous,
    ...names,
    externUid: attributes.externUid ?? previous.externUid,
    userName: attributes.userName ?? previous.userName,
    email: attributes.email ?? previous.email,
    displayName:
      attributes.displayName === undefined ? (previous.displayName ?? null) : attributes.displayName,
    active: attributes.active ?? previous.active,
    updatedAt: now,
    version: previous.version + 1,
  };
  const managed = isManaged(user, caller.group);
  const account = managed
    ? await accountChange(deps, caller, user, { previous, next, name })
    : { ...NOTHING, change: keepsUp(caller, user, next) };
  const movement = await moved(deps, caller, user, previous.active, next.active);
  const identity = isSame(previous, next) ? [] : deps.store.scimIdentities.change(previous, next);
  if (identity.length === 0 && Object.keys(account.change).length === 0) return { identity: previous, user };
  const after = await written(deps, caller, user, account.change, {
    alongside: [...identity, ...account.alongside, ...movement.alongside],
    messages: [...account.messages, ...movement.messages],
  });
  await movement.finish?.();
  if ('movedFrom' in account.change) await helpNamespaceMove(deps, user.id, moverOf(caller));
  return { identity: identity.length === 0 ? previous : next, user: after };
}

function moved(
  deps: Deps,
  caller: ScimCaller,
  user: UserRecord,
  previous: boolean,
  next: boolean,
): MembershipChange | Promise<MembershipChange> {
  if (previous === next) return STAYS;
  return next ? restoreMembership(deps, caller, user) : endMembership(deps, caller, user);
}

const isSame = (previous: ScimIdentity, next: ScimIdentity): boolean =>
  (previous.displayName ?? null) === next.displayName &&
  (['externUid', 'userName', 'email', 'givenName', 'familyName', 'active'] as const).every(
    (attribute) => previous[attribute] === next[attribute],
  );

async function written(
  deps: Deps,
  caller: ScimCaller,
  user: UserRecord,
  change: UserChange,
  { alongside, messages }: MembershipChange,
): Promise<UserRecord> {
  const { users, outbox } = deps.store;
  const guards = stillMay(deps, caller);
  if (Object.keys(change).length === 0) {
    await outbox.commit([...alongside, ...guards, users.isThere(user.id)], messages);
    return user;
  }
  const events = await Promise.all(
    auditedChange(user, change, false).map((event) => audited(deps, caller.author, event)),
  );
  const options = { alongside: [...alongside, ...guards, ...events], messages, now: deps.now() };
  return users.update(user, change, options);
}

interface AccountChange extends MembershipChange {
  readonly change: UserChange;
}
const moverOf = ({ baseUrl }: ScimCaller): Mover => ({ actorId: null, baseUrl });

const NOTHING: AccountChange = { change: {}, ...STAYS };

interface Said {
  readonly previous: ScimIdentity;
  readonly next: ScimIdentity;
  readonly name: string | undefined;
}

/** Changes of an account that the provider created. */
async function accountChange(
  deps: Deps,
  caller: ScimCaller,
  user: UserRecord,
  { previous, next, name }: Said,
): Promise<AccountChange> {
  const username =
    next.userName === previous.userName ? user.username : await freeUsername(deps, next.userName, user);
  const names = {
    ...(name === undefined || name === user.name ? {} : { name }),
    ...(username === user.username ? {} : { username }),
  };
  const move = namespaceMove(deps, user, names, moverOf(caller));
  const address =
    next.email === previous.email ? NOTHING : await addressChange(deps, caller, user, next.email);
  const signs = signsIn(caller, user, next.active ? next.externUid : undefined);
  const profile = { ...user.profile, ...address.change.profile, ...signs.profile };
  return {
    change: {
      ...names,
      ...move.change,
      ...address.change,
      ...(address.change.profile === undefined && signs.profile === undefined ? {} : { profile }),
    },
    alongside: [...move.alongside, ...address.alongside],
    messages: [...move.messages, ...address.messages],
  };
}

/** Changes of an account that belongs to its owner: the provider still manages the identity. */
function keepsUp(caller: ScimCaller, user: UserRecord, { active, externUid }: ScimIdentity): UserChange {
  const has = samlIdentityOf(user, caller.group.id) !== undefined;
  return has ? signsIn(caller, user, active ? externUid : undefined) : {};
}

/** Sets the identity at the provider; empty when it does not change. */
function signsIn({ group }: ScimCaller, user: UserRecord, externUid: string | undefined): UserChange {
  if (samlIdentityOf(user, group.id)?.extern_uid === externUid) return {};
  return { profile: { ...user.profile, identities: identitiesWith(user, group, externUid) } };
}

/**
 * Changes the address: at once if the group is trusted with the domain or the current address is unconfirmed, else when
 * the new one is confirmed by the mailed link. @throws 409 when it is taken; 429
 */
async function addressChange(
  deps: Deps,
  caller: ScimCaller,
  user: UserRecord,
  email: string,
): Promise<AccountChange> {
  const { sso, baseUrl } = caller;
  if (sameName(email, user.email)) return email === user.email ? NOTHING : { ...NOTHING, change: { email } };
  await requireAllowedAddress(deps, email);
  if (isTrusted(sso, email)) {
    const change = {
      email,
      unconfirmedEmail: null,
      confirmedAt: deps.now().toISOString(),
      profile: withoutAddress(user.profile, user.email),
    };
    return {
      change,
      alongside: [],
      messages: [addressConfirmed(email), ...addressMails(user, email, 'now')],
    };
  }
  if ((await deps.store.names.holder('email', email)) !== undefined)
    throw notUnique('Email has already been taken');
  await enqueueConfirmation(deps, caller, email);
  const change = user.confirmedAt === null ? { email } : { unconfirmedEmail: email };
  const confirmation = confirmationOf(deps, { userId: user.id, emailId: null, email }, baseUrl);
  return {
    change,
    alongside: confirmation.alongside,
    messages: [...confirmation.messages, ...addressMails(user, email, 'confirmed')],
  };
}
