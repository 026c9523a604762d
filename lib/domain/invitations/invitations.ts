/**
 * Invitations by email address. A user with that confirmed address becomes a member at once; otherwise the invitation
 * stays pending until a user confirms the address, or declines by the mailed link.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isExpired } from '../../records/expiry.ts';
import type { InvitationRecord } from '../../records/invitations.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, LimitReached, Missing } from '../../store/errors.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import { folded } from '../../store/row-keys/key.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { signedIn } from '../access/permissions.ts';
import { addressProblems } from '../accounts/sign-up-rules.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { auditedResource, requesterByLink } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, recordNotFound, refused, resourceNotFound } from '../errors.ts';
import { membershipActivity } from '../events/record.ts';
import { prepareMemberHooks } from '../hook-events/members.ts';
import { memberAdded } from '../members/audit.ts';
import { scheduleExpiry } from '../members/expiry.ts';
import { type MembershipResource, parentsOf, sourceOf } from '../members/list.ts';
import { addMember, MAX_PER_REQUEST, reasonOf, TOO_MANY_USERS } from '../members/members.ts';
import { grantable, type MembershipInput, requireMemberAdmin, requireUnlocked } from '../members/rules.ts';
import { emailProblems } from '../name-rules.ts';
import { answerMails } from '../notifications/enqueue.ts';
import { invitationMail } from './mail.ts';

/** Lifetime of the mailed link; the invitation itself does not expire. */
const LINK_MS = 14 * 86_400_000;
/** Limits of mails per inviter and per invited address. */
const SENDER_RATE = { kind: 'invitation', limit: 200, seconds: 3_600 } as const;
const ADDRESS_RATE = { kind: 'invitation-to', limit: 20, seconds: 86_400 } as const;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Invites each address on its own. Returns the reasons of the failed ones by address, or one sentence when there are too
 * many addresses, and then invites nobody.
 * @throws 400 by field, 403, 405 where a group above allows no new members
 */
export async function invite(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  emails: readonly string[],
  input: MembershipInput,
  baseUrl: string,
): Promise<Record<string, string> | string> {
  grantable(deps, actor, resource, input);
  if (emails.length > MAX_PER_REQUEST) return TOO_MANY_USERS;
  requireUnlocked(resource, await parentsOf(deps, resource));
  const byAddress = new Map(emails.map((email) => [folded(email.trim()), email.trim()]));
  const reasons = new Map<string, string>();
  for (const email of byAddress.values()) {
    const reason = await inviteOne(deps, actor, resource, email, input, baseUrl).catch((error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      return error.code === 'conflict' ? 'User already exists in source' : reasonOf(error);
    });
    if (reason !== undefined) reasons.set(email, reason);
  }
  // `fromEntries` is safe for any key, also for `__proto__`.
  return Object.fromEntries(reasons);
}

/** @returns the reason when the invitation failed */
async function inviteOne(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  email: string,
  input: MembershipInput,
  baseUrl: string,
): Promise<string | undefined> {
  if (emailProblems(email).length > 0) return 'Invite email is invalid';
  const { store } = deps;
  const { holder, confirmed } = await holderOf(deps, email);
  if (holder !== undefined && confirmed) {
    await addMember(deps, actor, resource, holder.id, input);
    return undefined;
  }
  const [refusal] = await addressProblems(deps, email);
  if (refusal !== undefined) return `Invite email ${refusal}`;
  const source = sourceOf(resource);
  if ((await store.invitations.get(source, email)) !== undefined) return TAKEN;
  const inviter = signedIn(actor).user;
  const now = deps.now();
  const mayMail =
    (await store.rateLimits.take(SENDER_RATE, String(inviter.id), now)) &&
    (await store.rateLimits.take(ADDRESS_RATE, folded(email), now));
  if (!mayMail) return 'Too many invitations have been sent. Try again later.';
  const token = randomBytes(20).toString('base64url');
  const record: InvitationRecord = {
    id: await store.invitations.nextId(),
    source,
    email,
    accessLevel: input.accessLevel as InvitationRecord['accessLevel'],
    expiresAt: input.expiresAt ?? null,
    createdAt: now.toISOString(),
    createdById: inviter.id,
    hash: hashOf(token),
    baseUrl,
  };
  const { fullPath } = 'project' in resource ? resource.project : resource.group;
  const linkEnds = Math.ceil((now.getTime() + LINK_MS) / 1000);
  const messages = [invitationMail(record, inviter, fullPath, { baseUrl, token })];
  try {
    await store.invitations.add(record, { unconfirmedOf: holder, linkEnds, messages });
  } catch (error) {
    if (error instanceof AlreadyExists) return TAKEN;
    if (error instanceof LimitReached) return `Too many pending invitations (limit is ${error.limit})`;
    if (!(error instanceof Missing)) throw error;
    if (!error.message.startsWith('nobody')) throw resourceNotFound(source);
    // A user confirmed the address concurrently.
    const { holder: newHolder, confirmed: isConfirmed } = await holderOf(deps, email);
    if (newHolder === undefined || !isConfirmed) return 'Invite email has changed its owner. Try again.';
    await addMember(deps, actor, resource, newHolder.id, input);
  }
  return undefined;
}

const TAKEN = 'Invite email has already been taken';

/** Returns the user who claims an address, and whether they have confirmed it. */
async function holderOf(
  { store }: Deps,
  email: string,
): Promise<{ holder: UserRecord | undefined; confirmed: boolean }> {
  const name = await store.names.holder('email', email);
  const holder = name?.type === 'user' ? await store.users.get(name.id) : undefined;
  if (holder === undefined) return { holder, confirmed: false };
  const confirmed = sameName(holder.email, email) ? holder.confirmedAt !== null : name!.confirmed;
  return { holder, confirmed };
}

/** An invitation and its creator. */
export interface ShownInvitation {
  readonly record: InvitationRecord;
  readonly createdBy: UserRecord | undefined;
}

/** Lists pending invitations by address. @param query.query part of an address @throws 403 */
export async function listInvitations(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  query: PageRequest & { query?: string | undefined },
): Promise<Page<ShownInvitation>> {
  requireMemberAdmin(actor, resource);
  const term = folded(query.query?.trim() ?? '');
  if (term === '') {
    const page = await deps.store.invitations.list(sourceOf(resource), query);
    return { ...page, items: await withCreators(deps, page.items) };
  }
  const all = await deps.store.invitations.all(sourceOf(resource));
  const matching = all.filter(({ email }) => folded(email).includes(term));
  const first = (query.page - 1) * query.perPage;
  const items = matching.slice(first, first + query.perPage);
  const more = first + items.length < matching.length;
  return { items: await withCreators(deps, items), total: matching.length, more };
}

async function withCreators(
  { store }: Deps,
  records: readonly InvitationRecord[],
): Promise<ShownInvitation[]> {
  const ids = [...new Set(records.map(({ createdById }) => createdById))];
  const users = new Map((await store.users.getMany(ids)).map((user, i) => [ids[i], user]));
  return records.map((record) => ({ record, createdBy: users.get(record.createdById) }));
}

export interface InvitationChange {
  readonly accessLevel?: number | undefined;
  readonly expiresAt?: string | null | undefined;
}

/** Changes the given fields. @throws 400 by field, 403 also for an invitation above the actor's level, 404 */
export async function changeInvitation(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  email: string,
  { accessLevel, expiresAt }: InvitationChange,
): Promise<ShownInvitation> {
  const previous = await getInvitation(deps, actor, resource, email);
  grantable(deps, actor, resource, { accessLevel: accessLevel ?? previous.accessLevel, expiresAt });
  const change = { accessLevel: accessLevel as InvitationRecord['accessLevel'] | undefined, expiresAt };
  const changed = deps.store.invitations.change(sourceOf(resource), email, change);
  const [first] = await withCreators(deps, [await orNotFound(changed)]);
  return first!;
}

/** @throws 404 when it was accepted concurrently */
export async function withdrawInvitation(deps: Deps, invitation: InvitationRecord): Promise<void> {
  await orNotFound(deps.store.invitations.remove(invitation));
}

/** Returns an invitation that the actor may change. @throws 403, 404 */
export async function getInvitation(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  email: string,
): Promise<InvitationRecord> {
  requireMemberAdmin(actor, resource);
  const found = await deps.store.invitations.get(sourceOf(resource), email);
  if (found === undefined) throw recordNotFound();
  if (!isAdministrator(actor) && found.accessLevel > resource.level) throw forbidden();
  return found;
}

/**
 * Accepts the invitations of a confirmed address. Idempotent; the address may belong to another user by then.
 * @param deadline milliseconds since 1970 @returns whether all are done
 */
export async function acceptConfirmedInvitations(
  deps: Deps,
  email: string,
  deadline: number,
): Promise<boolean> {
  const { holder, confirmed } = await holderOf(deps, email);
  if (holder === undefined || !confirmed) return true;
  for await (const invitation of deps.store.invitations.of(email)) {
    if (Date.now() > deadline) return false;
    await acceptInvitation(deps, invitation, holder).catch((error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
    });
  }
  return true;
}

/**
 * Turns an invitation into a membership. An expired invitation, or one to a deleted resource, is removed; an existing
 * membership is kept.
 * @throws 405 where an ancestor group allows no new members: the invitation stays pending
 */
async function acceptInvitation(
  deps: Deps,
  invitation: InvitationRecord,
  user: UserRecord,
  address?: string,
): Promise<void> {
  const { source, accessLevel, expiresAt, createdById } = invitation;
  const createdAt = deps.now().toISOString();
  const [project, group] = await Promise.all([
    source.kind === 'project' ? deps.store.projects.get(source.id) : undefined,
    source.kind === 'group' ? deps.store.groups.get(source.id) : undefined,
  ]);
  if (project !== undefined) {
    const resource = { project, level: 0 } as const;
    requireUnlocked(resource, await parentsOf(deps, resource));
  }
  const mails = answerMails(deps, invitation, user.id);
  try {
    const entity = project ? auditedResource('Project', project) : group && auditedResource('Group', group);
    if (entity === undefined || isExpired(invitation, deps.now())) throw new Missing('invitation');
    const member = { source, userId: user.id, accessLevel, expiresAt, createdAt, createdById };
    const by = { actorId: user.id, baseUrl: invitation.baseUrl ?? deps.environment.baseUrl ?? '' };
    const told = (await prepareMemberHooks(deps, by))((project ?? group)!, member, 'add');
    const alongside = [
      await memberAdded(deps, requesterByLink(user, address), entity, user, member),
      ...(await membershipActivity(deps, source, user.id, 'joined')),
      ...scheduleExpiry(member),
      ...outboxWrites([...mails, ...told]),
    ];
    await deps.store.invitations.accept(invitation, member, alongside);
    await deps.store.outbox.deliver([...mails, ...told]);
  } catch (error) {
    if (!(error instanceof Missing || error instanceof AlreadyExists)) throw error;
    if (error.message.startsWith('user')) return;
    await deps.store.invitations.remove(invitation).catch(unlessMissing);
  }
}

/**
 * Accepts or declines an invitation by the mailed link. A link works once.
 * @param address IP address of the request
 * @returns `waiting` when no user has confirmed the address yet: the invitation stays pending
 * @throws 400 for an invalid or expired link, 405 where an ancestor group allows no new members
 */
export async function answerInvitation(
  deps: Deps,
  token: string,
  answer: 'accept' | 'decline',
  address?: string,
): Promise<'accepted' | 'declined' | 'waiting'> {
  const found = await deps.store.invitations.byLink(hashOf(token), deps.now());
  if (found === undefined || found.hash !== hashOf(token)) throw refused('Invitation is invalid');
  if (answer === 'decline') {
    await deps.store.invitations.remove(found, answerMails(deps, found, null)).catch(unlessMissing);
    return 'declined';
  }
  const { holder, confirmed } = await holderOf(deps, found.email);
  if (holder === undefined || !confirmed) return 'waiting';
  await acceptInvitation(deps, found, holder, address);
  return 'accepted';
}

async function orNotFound<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof Missing)) throw error;
}
