/**
 * Memberships by e-mail address. Whoever has the address and has confirmed it is a member at once; for everybody else
 * an invitation waits until somebody confirms it, or declines by the link that was mailed there.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isExpired } from '../../records/expiry.ts';
import type { InvitationRecord } from '../../records/invitations.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, LimitReached, Missing } from '../../store/errors.ts';
import { outboxWrite } from '../../store/outbox/outbox.ts';
import { folded } from '../../store/row-keys/key.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { signedIn } from '../access/permissions.ts';
import { addressProblems } from '../accounts/sign-up-rules.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import { auditedResource, requesterByLink } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, recordNotFound, refused, resourceNotFound } from '../errors.ts';
import { membershipActivity } from '../events/record.ts';
import { memberAdded } from '../members/audit.ts';
import { scheduleExpiry } from '../members/expiry.ts';
import { type MembershipResource, parentsOf, sourceOf } from '../members/list.ts';
import { addMember, MAX_PER_REQUEST, reasonOf, TOO_MANY_USERS } from '../members/members.ts';
import { grantable, type MembershipInput, requireMemberAdmin, requireUnlocked } from '../members/rules.ts';
import { emailProblems } from '../name-rules.ts';
import { answerMails } from '../notifications/enqueue.ts';
import { invitationMail } from './mail.ts';

/** A link leads there for two weeks; the invitation stays. */
const LINK_MS = 14 * 86_400_000;
/** Mails that one user can have sent, and that one address can be sent. */
const BY_ONE = { kind: 'invitation', limit: 200, seconds: 3_600 } as const;
const TO_ONE = { kind: 'invitation-to', limit: 20, seconds: 86_400 } as const;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Each on its own, with the reasons of those that failed by address. Nobody is invited when there are too many, which
 * is told in one sentence.
 * @throws 400 by field, 403, 405 where a group above allows no new members
 */
export async function invite(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  emails: readonly string[],
  input: MembershipInput,
  baseUrl: string,
): Promise<Record<string, string> | string> {
  grantable(deps, actor, place, input);
  if (emails.length > MAX_PER_REQUEST) return TOO_MANY_USERS;
  requireUnlocked(place, await parentsOf(deps, place));
  const wanted = new Map(emails.map((email) => [folded(email.trim()), email.trim()]));
  const reasons = new Map<string, string>();
  for (const email of wanted.values()) {
    const reason = await inviteOne(deps, actor, place, email, input, baseUrl).catch((error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      return error.code === 'conflict' ? 'User already exists in source' : reasonOf(error);
    });
    if (reason !== undefined) reasons.set(email, reason);
  }
  // Whatever they are called: an address may be a word that objects have a meaning for.
  return Object.fromEntries(reasons);
}

/** @returns why not */
async function inviteOne(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  email: string,
  input: MembershipInput,
  baseUrl: string,
): Promise<string | undefined> {
  if (emailProblems(email).length > 0) return 'Invite email is invalid';
  const { store } = deps;
  const { holder, confirmed } = await whoHas(deps, email);
  if (holder !== undefined && confirmed) {
    await addMember(deps, actor, place, holder.id, input);
    return undefined;
  }
  const [refusal] = await addressProblems(deps, email);
  if (refusal !== undefined) return `Invite email ${refusal}`;
  const source = sourceOf(place);
  if ((await store.invitations.get(source, email)) !== undefined) return TAKEN;
  const inviter = signedIn(actor).user;
  const now = deps.now();
  const mayMail =
    (await store.rateLimits.take(BY_ONE, String(inviter.id), now)) &&
    (await store.rateLimits.take(TO_ONE, folded(email), now));
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
  const { fullPath } = 'project' in place ? place.project : place.group;
  const linkEnds = Math.ceil((now.getTime() + LINK_MS) / 1000);
  const messages = [invitationMail(record, inviter, fullPath, { baseUrl, token })];
  try {
    await store.invitations.add(record, { unconfirmedOf: holder, linkEnds, messages });
  } catch (error) {
    if (error instanceof AlreadyExists) return TAKEN;
    if (error instanceof LimitReached) return `Too many invitations wait here (limit is ${error.limit})`;
    if (!(error instanceof Missing)) throw error;
    if (!error.message.startsWith('nobody')) throw resourceNotFound(source);
    // Somebody confirmed it at this moment.
    const { holder: by, confirmed: theirs } = await whoHas(deps, email);
    if (by === undefined || !theirs) return 'Invite email has changed hands. Try again.';
    await addMember(deps, actor, place, by.id, input);
  }
  return undefined;
}

const TAKEN = 'Invite email has already been taken';

/** Whoever claims an address, and whether they have shown that it is theirs. */
async function whoHas(
  { store }: Deps,
  email: string,
): Promise<{ holder: UserRecord | undefined; confirmed: boolean }> {
  const name = await store.names.holder('email', email);
  const holder = name?.type === 'user' ? await store.users.get(name.id) : undefined;
  if (holder === undefined) return { holder, confirmed: false };
  const confirmed = sameName(holder.email, email) ? holder.confirmedAt !== null : name!.confirmed;
  return { holder, confirmed };
}

/** An invitation, and who made it. */
export interface ShownInvitation {
  readonly record: InvitationRecord;
  readonly createdBy: UserRecord | undefined;
}

/** By address. @param query part of one @throws 403 */
export async function listInvitations(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  query: PageRequest & { query?: string | undefined },
): Promise<Page<ShownInvitation>> {
  requireMemberAdmin(actor, place);
  const term = folded(query.query?.trim() ?? '');
  if (term === '') {
    const page = await deps.store.invitations.list(sourceOf(place), query);
    return { ...page, items: await shown(deps, page.items) };
  }
  const all = await deps.store.invitations.all(sourceOf(place));
  const matching = all.filter(({ email }) => folded(email).includes(term));
  const first = (query.page - 1) * query.perPage;
  const items = matching.slice(first, first + query.perPage);
  const more = first + items.length < matching.length;
  return { items: await shown(deps, items), total: matching.length, more };
}

async function shown({ store }: Deps, records: readonly InvitationRecord[]): Promise<ShownInvitation[]> {
  const ids = [...new Set(records.map(({ createdById }) => createdById))];
  const users = new Map((await store.users.getMany(ids)).map((user, i) => [ids[i], user]));
  return records.map((record) => ({ record, createdBy: users.get(record.createdById) }));
}

export interface InvitationChange {
  readonly accessLevel?: number | undefined;
  readonly expiresAt?: string | null | undefined;
}

/** What is absent stays. @throws 400 by field, 403 also for one above the actor's level, 404 */
export async function changeInvitation(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  email: string,
  { accessLevel, expiresAt }: InvitationChange,
): Promise<ShownInvitation> {
  const was = await invitationTo(deps, actor, place, email);
  grantable(deps, actor, place, { accessLevel: accessLevel ?? was.accessLevel, expiresAt });
  const change = { accessLevel: accessLevel as InvitationRecord['accessLevel'] | undefined, expiresAt };
  const changed = deps.store.invitations.change(sourceOf(place), email, change);
  const [first] = await shown(deps, [await orAbsent(changed)]);
  return first!;
}

/** @throws 404 when it was taken meanwhile */
export async function withdrawInvitation(deps: Deps, invitation: InvitationRecord): Promise<void> {
  await orAbsent(deps.store.invitations.remove(invitation));
}

/** One that the actor may change. @throws 403, 404 */
export async function invitationTo(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  email: string,
): Promise<InvitationRecord> {
  requireMemberAdmin(actor, place);
  const found = await deps.store.invitations.get(sourceOf(place), email);
  if (found === undefined) throw recordNotFound();
  if (!isAdministrator(actor) && found.accessLevel > place.level) throw forbidden();
  return found;
}

/** The job of `invited-address.ts`: may come twice, late, or when the address is another's by then. @returns whether nothing is left */
export async function takeInvitations(deps: Deps, email: string, deadline: number): Promise<boolean> {
  const { holder, confirmed } = await whoHas(deps, email);
  if (holder === undefined || !confirmed) return true;
  for await (const invitation of deps.store.invitations.of(email)) {
    if (Date.now() > deadline) return false;
    await take(deps, invitation, holder).catch((error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
    });
  }
  return true;
}

/**
 * One that is taken, has ended, or is to what is gone, is no more; a membership that there is stays as it is.
 * @throws 405 where a group above allows no new members: it waits
 */
async function take(
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
    const place = { project, level: 0 } as const;
    requireUnlocked(place, await parentsOf(deps, place));
  }
  const mails = answerMails(deps, invitation, user.id);
  try {
    const entity = project ? auditedResource('Project', project) : group && auditedResource('Group', group);
    if (entity === undefined || isExpired(invitation, deps.now())) throw new Missing('invitation');
    const member = { source, userId: user.id, accessLevel, expiresAt, createdAt, createdById };
    const alongside = [
      await memberAdded(deps, requesterByLink(user, address), entity, user, member),
      ...(await membershipActivity(deps, source, user.id, 'joined')),
      ...scheduleExpiry(member),
      ...mails.map(outboxWrite),
    ];
    await deps.store.invitations.accept(invitation, member, alongside);
    await deps.store.outbox.deliver(mails);
  } catch (error) {
    if (!(error instanceof Missing || error instanceof AlreadyExists)) throw error;
    if (error.message.startsWith('user')) return;
    await deps.store.invitations.remove(invitation).catch(unlessMissing);
  }
}

/**
 * What the reader of the mail says to it, from some address: once.
 * @returns `waiting` where nobody has the address yet, so that the invitation stays
 * @throws 400 for a link that leads nowhere (any more), 405 where a group above allows no new members
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
  const { holder, confirmed } = await whoHas(deps, found.email);
  if (holder === undefined || !confirmed) return 'waiting';
  await take(deps, found, holder, address);
  return 'accepted';
}

async function orAbsent<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof Missing)) throw error;
}
