/** Who is a member of a project or group: directly, or by what it stands in. */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import type { MembershipGrant } from '../../store/members/members.ts';
import type { PageRequest } from '../../store/table/paging.ts';
import { effectiveAccess, keepsProjectsToItself, MembershipCache } from '../access/effective-level.ts';
import { resourceOf } from '../access/open-request.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';

/** A membership with the person it is of. */
export interface Member {
  readonly record: MemberRecord;
  readonly user: UserRecord;
}

/** What people are members of, as the actor may know of it. */
export type MembershipResource = ProjectAccess | GroupAccess;

export const sourceOf = (place: MembershipResource): MemberSource =>
  'project' in place ? { kind: 'project', id: place.project.id } : { kind: 'group', id: place.group.id };

/** A filter looks at this many members, the oldest accounts first. */
const MAX_FILTERED = 10_000;
/** So many are read, or asked for one by one. */
const FEW = 1000;

/**
 * Those whose account is gone are left out.
 * @param query.without ids of users who are left out
 * @param query.inherited also members of the groups above and, for a project, of groups that were invited to it; each
 *   person once, with the highest level
 */
export async function listMembers(
  deps: Deps,
  place: MembershipResource,
  query: PageRequest & {
    inherited: boolean;
    query?: string;
    userIds?: readonly number[];
    without?: readonly number[];
  },
): Promise<{ items: Member[]; total: number | undefined; more: boolean }> {
  const givers = query.inherited ? await giversOf(deps, place) : [{ source: sourceOf(place) }];
  const wanted = query.userIds?.length ? new Set(query.userIds) : undefined;
  const term = query.query?.trim().toLowerCase() ?? '';
  const without = new Set(query.without);
  if (wanted === undefined && without.size === 0 && term === '') {
    const page = await deps.store.members.listAll(givers, query);
    return { items: await withUsers(deps, page.items), total: page.total, more: page.more };
  }
  const read = await candidates(deps, givers, wanted, term);
  const kept = read.filter(({ userId }) => (wanted?.has(userId) ?? true) && !without.has(userId));
  const matching = (await withUsers(deps, kept)).filter(({ user }) =>
    [user.name, user.username].some((text) => text.toLowerCase().includes(term)),
  );
  const first = (query.page - 1) * query.perPage;
  const items = matching.slice(first, first + query.perPage);
  return { items, total: matching.length, more: first + items.length < matching.length };
}

/** Those of a large place who are asked for are looked up, however many others are members. */
async function candidates(
  { store: { members, search } }: Deps,
  givers: readonly MembershipGrant[],
  wanted: ReadonlySet<number> | undefined,
  term: string,
): Promise<readonly MemberRecord[]> {
  if (wanted !== undefined && wanted.size <= FEW) return members.among(givers, [...wanted]);
  const few = await members.listAll(givers, { page: 1, perPage: FEW });
  if (!few.more) return few.items;
  // The index of names may be late, and finds short words where a name begins.
  const named = term === '' ? undefined : await search.find('user', term);
  if (named?.complete) return members.among(givers, named.ids);
  return (await members.listAll(givers, { page: 1, perPage: MAX_FILTERED })).items;
}

/** @throws 404 `404 Not found` for somebody who is no member, or with `inherited: false` no direct one */
export async function getMember(
  deps: Deps,
  place: MembershipResource,
  userId: number,
  { inherited }: { inherited: boolean },
): Promise<Member> {
  const givers = inherited ? await giversOf(deps, place) : [{ source: sourceOf(place) }];
  const [record, user] = await Promise.all([
    deps.store.members.highest(givers, userId),
    deps.store.users.get(userId),
  ]);
  if (record === undefined || user === undefined) throw recordNotFound();
  return { record, user };
}

/** The groups that a project or group stands in, the innermost first. */
export async function parentsOf(deps: Deps, place: MembershipResource): Promise<readonly GroupRecord[]> {
  if ('group' in place) return place.parents;
  if (place.project.namespaceKind === 'user') return [];
  const { ancestorIds } = place.project;
  const surroundings = new MembershipCache(deps);
  await surroundings.read(ancestorIds, [], undefined);
  const found = await effectiveAccess(surroundings, { ...resourceOf(place.project), shares: [] }, undefined);
  return found?.parents ?? [];
}

/** Everything by which somebody is a member, the place itself first. */
async function giversOf(deps: Deps, place: MembershipResource): Promise<MembershipGrant[]> {
  const parents = await parentsOf(deps, place);
  const own = [{ source: sourceOf(place) }, ...parents.map(asGiver)];
  if ('group' in place) return own;
  const today = deps.now().toISOString().slice(0, 10);
  const keptOut = parents.some(keepsProjectsToItself);
  const shares = place.project.shares.filter(
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
  const users = await deps.store.users.getMany(records.map((record) => record.userId));
  return records.flatMap((record, index) => {
    const user = users[index];
    return user === undefined ? [] : [{ record, user }];
  });
}
