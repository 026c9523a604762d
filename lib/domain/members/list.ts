/** Members of a project or group: direct, inherited and invited ones. */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import type { MembershipGrant } from '../../store/members/members.ts';
import type { PageRequest } from '../../store/table/paging.ts';
import { effectiveAccess, hasShareLock, MembershipCache } from '../access/effective-level.ts';
import { resourceOf } from '../access/open-request.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';

/** A membership with its user. */
export interface Member {
  readonly record: MemberRecord;
  readonly user: UserRecord;
}

/** A project or group that has members, with the access of the actor. */
export type MembershipResource = ProjectAccess | GroupAccess;

export const sourceOf = (resource: MembershipResource): MemberSource =>
  'project' in resource
    ? { kind: 'project', id: resource.project.id }
    : { kind: 'group', id: resource.group.id };

/** Maximum number of members that a filter reads, the oldest accounts first. */
const MAX_FILTERED = 10_000;
/** Up to this number, members are read as one list or looked up by ID. */
const MAX_DIRECT_READ = 1000;

/**
 * Lists members without deleted users.
 * @param query.without IDs of users to leave out
 * @param query.inherited include members of ancestor groups and, for a project, of invited groups; each user once, with
 *   the highest level
 */
export async function listMembers(
  deps: Deps,
  resource: MembershipResource,
  query: PageRequest & {
    inherited: boolean;
    query?: string;
    userIds?: readonly number[];
    without?: readonly number[];
    /** Only users with a greater id. */
    after?: number | undefined;
  },
): Promise<{ items: Member[]; total: number | undefined; more: boolean; lastUserId: number | undefined }> {
  const givers = query.inherited ? await giversOf(deps, resource) : [{ source: sourceOf(resource) }];
  const wanted = query.userIds?.length ? new Set(query.userIds) : undefined;
  const term = query.query?.trim().toLowerCase() ?? '';
  const without = new Set(query.without);
  if (wanted === undefined && without.size === 0 && term === '') {
    const page = await deps.store.members.listAll(givers, query);
    const lastUserId = page.items.at(-1)?.userId;
    return { items: await withUsers(deps, page.items), total: page.total, more: page.more, lastUserId };
  }
  const read = await candidates(deps, givers, wanted, term);
  const { after = -1 } = query;
  const kept = read.filter(
    ({ userId }) => userId > after && (wanted?.has(userId) ?? true) && !without.has(userId),
  );
  const matching = (await withUsers(deps, kept)).filter(({ user }) =>
    [user.name, user.username].some((text) => text.toLowerCase().includes(term)),
  );
  const first = (query.page - 1) * query.perPage;
  const items = matching.slice(first, first + query.perPage);
  const more = first + items.length < matching.length;
  return { items, total: matching.length, more, lastUserId: items.at(-1)?.record.userId };
}

/** Reads the members that may match. In a large resource, requested users are looked up instead of reading all members. */
async function candidates(
  { store: { members, search } }: Deps,
  givers: readonly MembershipGrant[],
  wanted: ReadonlySet<number> | undefined,
  term: string,
): Promise<readonly MemberRecord[]> {
  if (wanted !== undefined && wanted.size <= MAX_DIRECT_READ) return members.among(givers, [...wanted]);
  const few = await members.listAll(givers, { page: 1, perPage: MAX_DIRECT_READ });
  if (!few.more) return few.items;
  // The search index may be stale, and matches short terms only at the beginning of a name.
  const named = term === '' ? undefined : await search.find('user', term);
  if (named?.complete) return members.among(givers, named.ids);
  return (await members.listAll(givers, { page: 1, perPage: MAX_FILTERED })).items;
}

/** @throws 404 `404 Not found` when the user is not a member, or with `inherited: false` not a direct one */
export async function getMember(
  deps: Deps,
  resource: MembershipResource,
  userId: number,
  { inherited }: { inherited: boolean },
): Promise<Member> {
  const givers = inherited ? await giversOf(deps, resource) : [{ source: sourceOf(resource) }];
  const [record, user] = await Promise.all([
    deps.store.members.highest(givers, userId),
    deps.store.users.get(userId),
  ]);
  if (record === undefined || user === undefined) throw recordNotFound();
  return { record, user };
}

/** Returns the ancestor groups of a project or group, the parent first. */
export async function parentsOf(deps: Deps, resource: MembershipResource): Promise<readonly GroupRecord[]> {
  if ('group' in resource) return resource.parents;
  if (resource.project.namespaceKind === 'user') return [];
  const { ancestorIds } = resource.project;
  const surroundings = new MembershipCache(deps);
  await surroundings.read(ancestorIds, [], undefined);
  const found = await effectiveAccess(
    surroundings,
    { ...resourceOf(resource.project), shares: [] },
    undefined,
  );
  return found?.parents ?? [];
}

/** Returns all sources of membership, the resource itself first. */
async function giversOf(deps: Deps, resource: MembershipResource): Promise<MembershipGrant[]> {
  const parents = await parentsOf(deps, resource);
  const own = [{ source: sourceOf(resource) }, ...parents.map(asGiver)];
  if ('group' in resource) return own;
  const today = deps.now().toISOString().slice(0, 10);
  const keptOut = parents.some(hasShareLock);
  const shares = resource.project.shares.filter(
    ({ expiresAt }) => !keptOut && (expiresAt === null || expiresAt > today),
  );
  const invited = await Promise.all(
    shares.map(async ({ groupId, accessLevel }): Promise<MembershipGrant[]> => {
      const subject = { source: { kind: 'group', id: groupId } as const, parentId: groupId, shares: [] };
      const found = await effectiveAccess(new MembershipCache(deps), subject, undefined);
      return (found?.parents ?? []).map((group) => ({ ...asGiver(group), atMost: accessLevel }));
    }),
  );
  return [...own, ...invited.flat()];
}

const asGiver = ({ id }: GroupRecord): MembershipGrant => ({ source: { kind: 'group', id } });

async function withUsers(deps: Deps, records: readonly MemberRecord[]): Promise<Member[]> {
  const users = await deps.store.users.shown(records.map((record) => record.userId));
  return records.flatMap((record, index) => {
    const user = users[index];
    return user === undefined ? [] : [{ record, user }];
  });
}
