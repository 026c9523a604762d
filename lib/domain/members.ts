import { AlreadyExists, Missing } from '../store/errors.ts';
import type { PageRequest } from '../store/paging.ts';
import type { AccessLevel, MemberRecord, MemberSource, ProjectRecord, UserRecord } from '../store/records.ts';
import type { Actor, ProjectAccess } from './access.ts';
import type { Deps } from './deps.ts';
import { conflict, DomainError, forbidden, invalid, notFound, recordNotFound } from './errors.ts';
import { demand, isAdministrator, MAINTAINER, signedIn } from './permissions.ts';

/** A membership with the person it is of. */
export interface Member {
  readonly record: MemberRecord;
  readonly user: UserRecord;
}

/** Levels that a project membership may have: owning belongs to the namespace. */
const PROJECT_LEVELS: readonly number[] = [10, 20, 30, 40];

/** A filter looks at this many members of a project, the oldest accounts first. */
const MAX_FILTERED = 10_000;

/** Direct members, those whose account is gone left out. */
export async function listMembers(
  deps: Deps,
  { project }: ProjectAccess,
  query: PageRequest & { query?: string; userIds?: readonly number[] },
): Promise<{ items: Member[]; total: number | undefined; more: boolean }> {
  const wanted = query.userIds?.length ? new Set(query.userIds) : undefined;
  const term = query.query?.trim().toLowerCase() ?? '';
  if (wanted === undefined && term === '') {
    const page = await deps.store.members.list(sourceOf(project), query);
    return { items: await withUsers(deps, page.items), total: page.total, more: page.more };
  }
  const read = await deps.store.members.list(sourceOf(project), { page: 1, perPage: MAX_FILTERED });
  const kept = read.items.filter((record) => wanted?.has(record.userId) ?? true);
  const matching = (await withUsers(deps, kept)).filter(({ user }) =>
    [user.name, user.username].some((text) => text.toLowerCase().includes(term)),
  );
  const first = (query.page - 1) * query.perPage;
  const items = matching.slice(first, first + query.perPage);
  return { items, total: matching.length, more: first + items.length < matching.length };
}

/** @throws 404 `404 Not found` for somebody who is no direct member */
export async function getMember(deps: Deps, { project }: ProjectAccess, userId: number): Promise<Member> {
  const [record, user] = await Promise.all([
    deps.store.members.get(sourceOf(project), userId),
    deps.store.users.get(userId),
  ]);
  if (record === undefined || user === undefined) throw recordNotFound();
  return { record, user };
}

export interface MembershipInput {
  readonly accessLevel: number;
  /** `YYYY-MM-DD`; null clears it, undefined leaves it. */
  readonly expiresAt?: string | null | undefined;
}

/** @throws 403, 404 `404 User Not Found`, 409 `Member already exists`, 400 by field */
export async function addMember(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  userId: number,
  input: MembershipInput,
): Promise<Member> {
  const accessLevel = grantable(deps, actor, access, input);
  const user = await deps.store.users.get(userId);
  if (user === undefined) throw notFound('User');
  const record: MemberRecord = {
    source: sourceOf(access.project),
    userId,
    accessLevel,
    createdAt: deps.now().toISOString(),
    expiresAt: input.expiresAt ?? null,
    createdById: signedIn(actor).user.id,
  };
  try {
    await deps.store.members.add(record);
  } catch (error) {
    if (error instanceof AlreadyExists) throw conflict('Member already exists');
    if (error instanceof Missing) throw notFound(error.message.startsWith('user') ? 'User' : 'Project');
    throw error;
  }
  return { record, user };
}

const MAX_AT_ONCE = 100;

/**
 * Adds several at once; each on its own, with the reasons of those that failed by username. Nobody is added when
 * there are too many, which is told in one sentence.
 */
export async function addMembers(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  userIds: readonly number[],
  input: MembershipInput,
): Promise<Record<string, string> | string> {
  grantable(deps, actor, access, input);
  if (userIds.length > MAX_AT_ONCE) return `Too many users specified (limit is ${MAX_AT_ONCE})`;
  const reasons: Record<string, string> = {};
  const users = await deps.store.users.getMany(userIds);
  for (const [index, userId] of userIds.entries()) {
    const user = users[index];
    if (user === undefined) {
      reasons[String(userId)] = '404 User Not Found';
      continue;
    }
    try {
      await addMember(deps, actor, access, userId, input);
    } catch (error) {
      // What no rule raised is nobody's to read: those added so far stay, and the request fails.
      if (!(error instanceof DomainError)) throw error;
      reasons[user.username] = error.message;
    }
  }
  return reasons;
}

/** @throws 403, 404 `404 Not found`, 400 by field */
export async function changeMember(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  userId: number,
  input: MembershipInput,
): Promise<Member> {
  const accessLevel = grantable(deps, actor, access, input);
  await demandAbove(deps, actor, access, userId);
  const user = await deps.store.users.get(userId);
  if (user === undefined) throw recordNotFound();
  try {
    const change =
      input.expiresAt === undefined ? { accessLevel } : { accessLevel, expiresAt: input.expiresAt };
    return { record: await deps.store.members.change(sourceOf(access.project), userId, change), user };
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
}

/** The highest level a user holds in any project; 0 without any. */
export async function highestRole(deps: Deps, user: UserRecord): Promise<AccessLevel | 0> {
  let highest: AccessLevel | 0 = 0;
  for await (const { accessLevel } of deps.store.members.ofUser(user.id)) {
    if (accessLevel > highest) highest = accessLevel;
    if (highest >= MAINTAINER) break;
  }
  return highest;
}

/** Anyone but the namespace's owner may leave; removing others asks for the right to manage members. @throws 403, 404 */
export async function removeMember(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  userId: number,
): Promise<void> {
  if (signedIn(actor).user.id !== userId) {
    demand(actor, access, 'admin_members');
    await demandAbove(deps, actor, access, userId);
  } else if (isNamespaceOwner(access, userId)) throw forbidden();
  try {
    await deps.store.members.remove(sourceOf(access.project), userId);
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
}

/** The level, when the actor may give it: nobody grants above their own. */
function grantable(deps: Deps, actor: Actor, access: ProjectAccess, input: MembershipInput): AccessLevel {
  demand(actor, access, 'admin_members');
  if (!PROJECT_LEVELS.includes(input.accessLevel)) {
    throw invalid({ access_level: ['is not included in the list'] });
  }
  if (input.expiresAt !== undefined && input.expiresAt !== null && input.expiresAt <= today(deps)) {
    throw invalid({ expires_at: ['cannot be a date in the past'] });
  }
  if (!isAdministrator(actor) && input.accessLevel > access.level) throw forbidden();
  return input.accessLevel as AccessLevel;
}

/**
 * Somebody who stands higher than the actor is out of the actor's reach, and a namespace's owner out of everybody's:
 * that membership says nothing about their rights.
 */
async function demandAbove(deps: Deps, actor: Actor, access: ProjectAccess, userId: number): Promise<void> {
  const { project } = access;
  const target = await deps.store.members.get(sourceOf(project), userId);
  if (target === undefined) throw recordNotFound();
  if (isNamespaceOwner(access, userId)) throw forbidden();
  if (isAdministrator(actor) || access.level > MAINTAINER) return;
  if (target.accessLevel > access.level) throw forbidden();
}

const sourceOf = ({ id }: ProjectRecord): MemberSource => ({ kind: 'project', id });

const isNamespaceOwner = ({ project }: ProjectAccess, userId: number): boolean =>
  project.namespaceKind === 'user' && project.ownerId === userId;

async function withUsers(deps: Deps, records: readonly MemberRecord[]): Promise<Member[]> {
  const users = await deps.store.users.getMany(records.map((record) => record.userId));
  return records.flatMap((record, index) => {
    const user = users[index];
    return user === undefined ? [] : [{ record, user }];
  });
}

const today = (deps: Deps) => deps.now().toISOString().slice(0, 10);
