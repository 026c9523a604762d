/** People who ask to be let into projects and groups they see and are no members of. */

import type { AccessRequestRecord } from '../../records/access-requests.ts';
import type { MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, Missing } from '../../store/errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { DEVELOPER, MAINTAINER, OWNER } from '../access/levels.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, invalid, recordNotFound, resourceNotFound, tooManyRequests } from '../errors.ts';
import { mailMessage, oneLine } from '../mail/message.ts';
import { type Member, type MembershipResource, sourceOf } from '../members/list.ts';
import { addMember } from '../members/members.ts';
import { requireMemberAdmin } from '../members/rules.ts';
import { addressesOf, isReached } from '../notifications/address.ts';
import { membershipMail } from '../notifications/enqueue.ts';
import { effective } from '../notifications/levels.ts';
import { groupResourceOf, isMuted, projectResourceOf } from '../notifications/resources.ts';

export interface AccessRequest {
  readonly record: AccessRequestRecord;
  readonly user: UserRecord;
}

/** Each may send a few mails. */
const LIMIT = { kind: 'access-request', limit: 60, seconds: 3_600 } as const;

/**
 * @param baseUrl what links of the mail to those who may decide begin with
 * @throws 403 for members, administrators and bots, and where nobody may ask; 400 by field for who has asked; 429
 */
export async function requestAccess(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  baseUrl: string,
): Promise<AccessRequest> {
  const { user } = signedIn(actor);
  if (!mayAsk(actor, place)) throw forbidden();
  const source = sourceOf(place);
  if ((await deps.store.accessRequests.get(source, user.id)) !== undefined) throw already();
  if (!(await deps.store.rateLimits.take(LIMIT, String(user.id), deps.now())))
    throw tooManyRequests('Too many requests for access. Try again later.');
  const record = { source, userId: user.id, requestedAt: deps.now().toISOString() };
  const told = message(MAINTENANCE, REQUESTED_JOB, { ...source, userId: user.id, baseUrl });
  try {
    await deps.store.accessRequests.add(record, [told]);
  } catch (error) {
    if (error instanceof AlreadyExists) throw error.message.startsWith('member') ? forbidden() : already();
    if (error instanceof Missing) throw resourceNotFound(source);
    throw error;
  }
  return { record, user };
}

function mayAsk(actor: Actor, place: MembershipResource): boolean {
  const { settings } = 'project' in place ? place.project : place.group;
  if (settings['request_access_enabled'] === false || isAdministrator(actor)) return false;
  // Who sees a private group for something inside it alone would ask for all of it.
  if ('group' in place && place.inside === true) return false;
  return place.level === 0 && signedIn(actor).user.type === undefined;
}

const already = () => invalid({ user_id: ['already exists in source'] });

/** Those whose account is gone are left out. @throws 403 */
export async function listAccessRequests(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  request: PageRequest,
): Promise<Page<AccessRequest>> {
  requireMemberAdmin(actor, place);
  const page = await deps.store.accessRequests.list(sourceOf(place), request);
  const users = await deps.store.users.getMany(page.items.map(({ userId }) => userId));
  const items = page.items.flatMap((record, i) => {
    const user = users[i];
    return user === undefined ? [] : [{ record, user }];
  });
  return { ...page, items };
}

/** Of approvals that come at once, one is made. @throws as {@link addMember}; 404 for who has not asked */
export function approveAccess(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  userId: number,
  accessLevel: number = DEVELOPER,
): Promise<Member> {
  return addMember(deps, actor, place, userId, { accessLevel }, { requested: true });
}

/** One that the actor may take away: whoever asked may take it back. @throws 403, 404 */
export async function getAccessRequest(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  userId: number,
): Promise<AccessRequestRecord> {
  if (signedIn(actor).user.id !== userId) requireMemberAdmin(actor, place);
  const found = await deps.store.accessRequests.get(sourceOf(place), userId);
  if (found === undefined) throw recordNotFound();
  return found;
}

/** Whoever takes it back themselves is not told. @throws 404 when it was answered meanwhile */
export async function denyAccess(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  userId: number,
): Promise<void> {
  const source = sourceOf(place);
  const theirs = signedIn(actor).user.id === userId;
  const messages = theirs ? [] : [membershipMail(deps, actor, { source, userId }, 'denied')];
  try {
    await deps.store.accessRequests.remove(source, userId, messages);
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
}

/** The job that tells those who may decide. */
export const REQUESTED_JOB = 'access.requested';

/** As many are told, of as many members looked at in each place. */
const MAX_TOLD = 10;
const MAX_LOOKED_AT = 5_000;

/**
 * Mails to those who manage its members, or else those of the groups above, the innermost first; not to who wants no
 * mail. May come twice.
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
  const above = subject.ancestorIds.map((group) => ({ kind: 'group', id: group }) as const).reverse();
  const ids = new Set<number>();
  if ('ownerId' in subject && subject.namespaceKind === 'user') ids.add(subject.ownerId);
  for (const place of [source, ...above]) {
    const level = place.kind === 'project' ? MAINTAINER : OWNER;
    for (const found of await store.members.atLeast(place, level, MAX_TOLD, MAX_LOOKED_AT)) ids.add(found);
    if (ids.size > 0) break;
  }
  const deciding = [...ids].slice(0, MAX_TOLD);
  const [users, choices, there] = await Promise.all([
    store.users.getMany(deciding),
    store.notificationSettings.getMany(deciding, [source, ...above, undefined]),
    source.kind === 'project' ? projectResourceOf(deps, source.id) : groupResourceOf(deps, source.id),
  ]);
  const readers = users.flatMap((each) => {
    if (each === undefined || !isReached(each) || there === undefined || isMuted(there)) return [];
    const chosen = choices.get(each.id)!;
    return effective(chosen).level === 'disabled' ? [] : [{ user: each, chosen: chosen.at(-1)! }];
  });
  const addresses = await addressesOf(deps, readers);
  await store.outbox.commit(
    [store.processed.mark(MAINTENANCE, id, deps.now())],
    readers.map((reader) =>
      mailTo(reader.user.id, addresses.get(reader.user.id)!, user, subject.fullPath, about),
    ),
  );
}

function mailTo(
  userId: number,
  to: string,
  user: UserRecord,
  fullPath: string,
  { source, baseUrl }: { source: MemberSource; baseUrl: string },
): OutboxMessage {
  const one = `${baseUrl}/api/v4/${source.kind}s/${source.id}/access_requests/${user.id}`;
  const ability = source.kind === 'project' ? 'admin_members' : 'admin_group_members';
  const mail = {
    to,
    subject: `${user.name} asks for access to ${fullPath}`,
    text: `${oneLine(user.name)} (@${user.username}) asks to become a member of the ${source.kind} ${fullPath}.

Let them in:  PUT ${one}/approve
Refuse:       DELETE ${one}
`,
  };
  return mailMessage(mail, { userId, source, ability });
}
