/** Access requests to projects and groups that a user can see without being a member. */

import type { AccessRequestRecord } from '../../records/access-requests.ts';
import type { MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, Missing } from '../../store/errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { DEVELOPER, MAINTAINER, OWNER } from '../access/levels.ts';
import { signedIn } from '../access/permissions.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, invalid, recordNotFound, resourceNotFound, tooManyRequests } from '../errors.ts';
import { mailMessage, oneLine } from '../mail/message.ts';
import { type Member, type MembershipResource, sourceOf } from '../members/list.ts';
import { addMember } from '../members/members.ts';
import { requireMemberAdmin } from '../members/rules.ts';
import { canReceiveMail, mailAddressesOf } from '../notifications/address.ts';
import { membershipMail } from '../notifications/enqueue.ts';
import { effectiveSetting } from '../notifications/levels.ts';
import { groupResourceOf, isMuted, projectResourceOf } from '../notifications/resources.ts';

export interface AccessRequest {
  readonly record: AccessRequestRecord;
  readonly user: UserRecord;
}

/** Limit of requests per user, because each sends mail. */
const LIMIT = { kind: 'access-request', limit: 60, seconds: 3_600 } as const;

/**
 * @param baseUrl base URL of the links in the mail
 * @throws 403 for members, administrators and bots, and where requests are turned off; 400 by field for a second request; 429
 */
export async function requestAccess(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  baseUrl: string,
): Promise<AccessRequest> {
  const { user } = signedIn(actor);
  if (!mayRequest(actor, resource)) throw forbidden();
  const source = sourceOf(resource);
  if ((await deps.store.accessRequests.get(source, user.id)) !== undefined) throw alreadyRequested();
  if (!(await deps.store.rateLimits.take(LIMIT, String(user.id), deps.now())))
    throw tooManyRequests('Too many requests for access. Try again later.');
  const record = { source, userId: user.id, requestedAt: deps.now().toISOString() };
  const notification = message(MAINTENANCE, REQUESTED_JOB, { ...source, userId: user.id, baseUrl });
  try {
    await deps.store.accessRequests.add(record, [notification]);
  } catch (error) {
    if (error instanceof AlreadyExists)
      throw error.message.startsWith('member') ? forbidden() : alreadyRequested();
    if (error instanceof Missing) throw resourceNotFound(source);
    throw error;
  }
  return { record, user };
}

function mayRequest(actor: Actor, resource: MembershipResource): boolean {
  const { settings } = 'project' in resource ? resource.project : resource.group;
  if (settings['request_access_enabled'] === false || isAdministrator(actor)) return false;
  // The actor sees the group only because of a membership in a descendant.
  if ('group' in resource && resource.hasDescendantMembership === true) return false;
  return resource.level === 0 && signedIn(actor).user.type === undefined;
}

const alreadyRequested = () => invalid({ user_id: ['already exists in source'] });

/** Lists access requests without those of deleted users. @throws 403 */
export async function listAccessRequests(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  request: PageRequest,
): Promise<Page<AccessRequest>> {
  requireMemberAdmin(actor, resource);
  const page = await deps.store.accessRequests.list(sourceOf(resource), request);
  const users = await deps.store.users.getMany(page.items.map(({ userId }) => userId));
  const items = page.items.flatMap((record, i) => {
    const user = users[i];
    return user === undefined ? [] : [{ record, user }];
  });
  return { ...page, items };
}

/** Approves a request; of concurrent approvals one succeeds. @throws as {@link addMember}; 404 without a request */
export function approveAccess(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
  accessLevel: number = DEVELOPER,
): Promise<Member> {
  return addMember(deps, actor, resource, userId, { accessLevel }, { requested: true });
}

/** Returns a request that the actor may delete; a user may withdraw their own. @throws 403, 404 */
export async function getAccessRequest(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
): Promise<AccessRequestRecord> {
  if (signedIn(actor).user.id !== userId) requireMemberAdmin(actor, resource);
  const found = await deps.store.accessRequests.get(sourceOf(resource), userId);
  if (found === undefined) throw recordNotFound();
  return found;
}

/** Denies or withdraws a request; a withdrawal sends no mail. @throws 404 when it was answered concurrently */
export async function denyAccess(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
): Promise<void> {
  const source = sourceOf(resource);
  const ownRequest = signedIn(actor).user.id === userId;
  const messages = ownRequest ? [] : [membershipMail(deps, actor, { source, userId }, 'denied')];
  try {
    await deps.store.accessRequests.remove(source, userId, messages);
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
}

/** The job that notifies the users who may approve a request. */
export const REQUESTED_JOB = 'access.requested';

/** Maximum number of recipients, and of members read per project or group. */
const MAX_RECIPIENTS = 10;
const MAX_MEMBERS_READ = 5_000;

/**
 * Notifies the users who manage the members of the resource, or else those of its nearest ancestor that has any. Users
 * who turned mail off get none. Idempotent.
 */
export async function notifyOfRequest(
  deps: Deps,
  { id, ...about }: { readonly id: string; source: MemberSource; userId: number; baseUrl: string },
): Promise<void> {
  const { store } = deps;
  if (await store.processed.has(MAINTENANCE, id)) return;
  const { source, userId } = about;
  const [request, user, subject] = await Promise.all([
    store.accessRequests.get(source, userId),
    store.users.get(userId),
    source.kind === 'project' ? store.projects.get(source.id) : store.groups.get(source.id),
  ]);
  if (request === undefined || user === undefined || subject === undefined) return;
  const ancestors = subject.ancestorIds.map((group) => ({ kind: 'group', id: group }) as const).reverse();
  const ids = new Set<number>();
  if ('ownerId' in subject && subject.namespaceKind === 'user') ids.add(subject.ownerId);
  for (const resource of [source, ...ancestors]) {
    const level = resource.kind === 'project' ? MAINTAINER : OWNER;
    for (const found of await store.members.atLeast(resource, level, MAX_RECIPIENTS, MAX_MEMBERS_READ))
      ids.add(found);
    if (ids.size > 0) break;
  }
  const managerIds = [...ids].slice(0, MAX_RECIPIENTS);
  const [users, choices, mailResource] = await Promise.all([
    store.users.getMany(managerIds),
    store.notificationSettings.getMany(managerIds, [source, ...ancestors, undefined]),
    source.kind === 'project' ? projectResourceOf(deps, source.id) : groupResourceOf(deps, source.id),
  ]);
  const recipients = users.flatMap((each) => {
    if (each === undefined || !canReceiveMail(each) || mailResource === undefined || isMuted(mailResource))
      return [];
    const chosen = choices.get(each.id)!;
    return effectiveSetting(chosen).level === 'disabled' ? [] : [{ user: each, chosen: chosen.at(-1)! }];
  });
  const addresses = await mailAddressesOf(deps, recipients);
  await store.outbox.commit(
    [store.processed.mark(MAINTENANCE, id, deps.now())],
    recipients.map((reader) =>
      requestMail(reader.user.id, addresses.get(reader.user.id)!, user, subject.fullPath, about),
    ),
  );
}

function requestMail(
  userId: number,
  to: string,
  user: UserRecord,
  fullPath: string,
  { source, baseUrl }: { source: MemberSource; baseUrl: string },
): OutboxMessage {
  const url = `${baseUrl}/api/v4/${source.kind}s/${source.id}/access_requests/${user.id}`;
  const ability = source.kind === 'project' ? 'admin_members' : 'admin_group_members';
  const mail = {
    to,
    subject: `${user.name} requests access to ${fullPath}`,
    text: `${oneLine(user.name)} (@${user.username}) requests access to the ${source.kind} ${fullPath}.

Approve:  PUT ${url}/approve
Deny:     DELETE ${url}
`,
  };
  return mailMessage(mail, { userId, source, ability });
}
