import type { AccessLevel, MemberRecord } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, LastOwner, Missing, Stale } from '../../store/errors.ts';
import type { AlongsideChange } from '../../store/members/members.ts';
import { type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import { unassignMessages } from '../../store/tracked/unassign.ts';
import { OWNER } from '../access/levels.ts';
import { signedIn } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import {
  conflict,
  DomainError,
  forbidden,
  invalid,
  notFound,
  recordNotFound,
  resourceNotFound,
} from '../errors.ts';
import { membershipActivity } from '../events/record.ts';
import { prepareMemberHooks, type ToldMember } from '../hook-events/members.ts';
import { membershipMail } from '../notifications/enqueue.ts';
import { entityOf, memberAdded, memberChanged, memberRemoved } from './audit.ts';
import { deletedUser, membershipCascade } from './cascade-removal.ts';
import { scheduleExpiry } from './expiry.ts';
import { type Member, type MembershipResource, sourceOf } from './list.ts';
import {
  grantable,
  isNamespaceOwner,
  type MembershipInput,
  requireLevelAbove,
  requireLevelFits,
  requireMemberAdmin,
} from './rules.ts';

/**
 * Adds a direct member.
 * @param options.requested whether an access request must exist; else 404 `404 Not found`
 * @throws 403, 404 `404 User Not Found`, 405 where an ancestor group allows no new members, 409 `Member already exists`,
 *   400 by field
 */
export async function addMember(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
  input: MembershipInput,
  options: { requested?: boolean } = {},
): Promise<Member> {
  const accessLevel = grantable(deps, actor, resource, input);
  const [user] = await Promise.all([
    deps.store.users.get(userId),
    requireLevelFits(deps, resource, userId, accessLevel, { adding: true }),
  ]);
  if (user === undefined) throw notFound('User');
  if (user.type !== undefined) {
    throw invalid({ user: ['project bots cannot be added to other groups / projects'] });
  }
  const source = sourceOf(resource);
  const record: MemberRecord = {
    source,
    userId,
    accessLevel,
    createdAt: deps.now().toISOString(),
    expiresAt: input.expiresAt ?? null,
    createdById: signedIn(actor).user.id,
  };
  const mail = userId === record.createdById ? [] : [membershipMail(deps, actor, record, 'granted')];
  const told = await toldOfMember(deps, actor, resource, record, 'add');
  const messages = [...mail, ...told];
  try {
    const alongside = [
      await memberAdded(deps, actor, entityOf(resource), user, record),
      ...(await membershipActivity(deps, source, userId, 'joined')),
      ...scheduleExpiry(record),
      ...outboxWrites(messages),
    ];
    await deps.store.members.add(record, { ...options, alongside });
  } catch (error) {
    if (error instanceof AlreadyExists) throw conflict('Member already exists');
    if (error instanceof Missing) {
      if (error.message.startsWith('request')) throw recordNotFound();
      throw error.message.startsWith('user') ? notFound('User') : resourceNotFound(source);
    }
    throw error;
  }
  await deps.store.outbox.deliver(messages);
  return { record, user };
}

export const MAX_PER_REQUEST = 100;
export const TOO_MANY_USERS = `Too many users specified (limit is ${MAX_PER_REQUEST})`;

/**
 * Adds several users, each on its own. Returns the reasons of the failed ones by username, or one sentence when there
 * are too many users, and then adds nobody.
 */
export async function addMembers(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userIds: readonly number[],
  input: MembershipInput,
): Promise<Record<string, string> | string> {
  grantable(deps, actor, resource, input);
  if (userIds.length > MAX_PER_REQUEST) return TOO_MANY_USERS;
  const reasons: Record<string, string> = {};
  const users = await deps.store.users.getMany(userIds);
  for (const [index, userId] of userIds.entries()) {
    const user = users[index];
    if (user === undefined) {
      reasons[String(userId)] = '404 User Not Found';
      continue;
    }
    try {
      await addMember(deps, actor, resource, userId, input);
    } catch (error) {
      // Internal errors are not shown: users added so far stay, and the request fails.
      if (!(error instanceof DomainError)) throw error;
      reasons[user.username] = reasonOf(error);
    }
  }
  return reasons;
}

/** Returns the reason of a failure as one sentence. */
export function reasonOf({ message, detail }: DomainError): string {
  if (typeof detail !== 'object' || Array.isArray(detail)) return message;
  const [[field, problems] = ['', []]] = Object.entries(detail);
  const name = field.replaceAll('_', ' ');
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${[problems].flat().join(', ')}`;
}

/** @throws 403, 404 `404 Not found`, 400 by field */
export async function changeMember(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
  input: MembershipInput,
): Promise<Member> {
  const accessLevel = grantable(deps, actor, resource, input);
  const previous = await requireLevelAbove(deps, actor, resource, userId);
  const [user] = await Promise.all([
    deps.store.users.get(userId),
    requireLevelFits(deps, resource, userId, accessLevel, { adding: false }),
  ]);
  if (user === undefined) throw recordNotFound();
  const change =
    input.expiresAt === undefined ? { accessLevel } : { accessLevel, expiresAt: input.expiresAt };
  const { members, groupOwners } = deps.store;
  let mail: readonly OutboxMessage[] = [];
  const alongside: AlongsideChange = async (previous, next) => {
    mail = [
      ...(previous.accessLevel === next.accessLevel ? [] : [membershipMail(deps, actor, next, 'changed')]),
      ...(await toldOfMember(deps, actor, resource, next, 'update')),
    ];
    const recorded = await memberChanged(deps, actor, entityOf(resource), user, { previous, next });
    const ends = previous.expiresAt === next.expiresAt ? [] : scheduleExpiry(next);
    return [...recorded, ...ends, ...outboxWrites(mail)];
  };
  const record = await translateErrors(
    'project' in resource
      ? members.change(sourceOf(resource), userId, change, { previous, alongside })
      : groupOwners.change(resource.group.id, userId, change, {
          needsOwner: needsOwner(resource),
          alongside,
        }),
  );
  await deps.store.outbox.deliver(mail);
  return { record, user };
}

/** The highest level of a user's memberships; 0 without any. */
export async function highestRole(deps: Deps, user: UserRecord): Promise<AccessLevel | 0> {
  let highest: AccessLevel | 0 = 0;
  for await (const { accessLevel } of deps.store.members.ofUser(user.id)) {
    if (accessLevel > highest) highest = accessLevel;
    if (highest >= OWNER) break;
  }
  return highest;
}

/**
 * Removes a member. Users may leave by themselves, except the owner of the namespace and the last owner of a group;
 * removing others requires the ability to manage members.
 * @param options.keepBelow keep memberships in descendants; else they end too
 * @param options.unassigns a worker takes the user off issues and merge requests there
 * @throws 403, 404
 */
export async function removeMember(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
  { keepBelow, unassigns }: { readonly keepBelow: boolean; readonly unassigns: boolean },
): Promise<void> {
  let user: UserRecord | undefined = signedIn(actor).user;
  let member: MemberRecord | undefined;
  if (user.id !== userId) {
    requireMemberAdmin(actor, resource);
    [user, member] = await Promise.all([
      deps.store.users.get(userId),
      requireLevelAbove(deps, actor, resource, userId),
    ]);
  } else if (isNamespaceOwner(resource, userId) || isBot(actor)) throw forbidden();
  else member = await deps.store.members.get(sourceOf(resource), userId);
  if (member === undefined) throw recordNotFound();
  const alongside = [await memberRemoved(deps, actor, entityOf(resource), user ?? deletedUser(userId))];
  if (user !== undefined)
    alongside.push(...(await membershipActivity(deps, sourceOf(resource), userId, 'left')));
  const told = await toldOfMember(deps, actor, resource, member, 'remove');
  alongside.push(...outboxWrites(told));
  if (unassigns) alongside.push(...outboxWrites(unassignMessages(sourceOf(resource), userId)));
  if ('project' in resource) {
    await translateErrors(deps.store.members.remove(sourceOf(resource), userId, alongside));
    await deps.store.outbox.deliver(told);
    return;
  }
  const groupId = resource.group.id;
  const cascade = keepBelow ? undefined : membershipCascade(deps, groupId, userId, actor);
  if (cascade !== undefined) alongside.push(cascade.enqueue);
  await translateErrors(
    deps.store.groupOwners.remove(groupId, userId, { needsOwner: needsOwner(resource), alongside }),
  );
  await deps.store.outbox.deliver(told);
  await cascade?.finish();
}

/** Hooks of groups, and of the instance, hear of members. */
const toldOfMember = async (
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  member: ToldMember,
  what: 'add' | 'update' | 'remove',
): Promise<OutboxMessage[]> =>
  (await prepareMemberHooks(deps, actor))(
    'project' in resource ? resource.project : resource.group,
    member,
    what,
  );

/** Translates errors of the store. */
async function translateErrors<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof Missing) throw recordNotFound();
    if (error instanceof LastOwner) throw forbidden();
    throw error instanceof Stale ? new DomainError('conflict', '409 Conflict: Resource lock') : error;
  }
}

/** A top-level group needs an owner of its own; a subgroup inherits owners. */
const needsOwner = ({ group }: GroupAccess): boolean => group.parentId === null;

const isBot = (actor: Actor): boolean => actor.kind === 'user' && actor.user.type !== undefined;
