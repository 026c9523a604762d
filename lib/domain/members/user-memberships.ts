import type { AccessLevel, MemberSource } from '../../records/members.ts';
import type { ListedMembership } from '../../store/members/members.ts';
import type { Position } from '../../store/table/cursor.ts';
import { MAX_OFFSET, MAX_TOTAL, type Page, type PageRequest } from '../../store/table/paging.ts';
import { signedIn } from '../access/permissions.ts';
import { userOfId } from '../accounts/accounts.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, forbidden } from '../errors.ts';

export interface NamedMembership {
  readonly source: MemberSource;
  readonly name: string;
  readonly accessLevel: AccessLevel;
}

/** Lists the direct memberships of a user: groups, then projects, by ID. @throws 404 */
export async function listMemberships(
  deps: Deps,
  userId: number,
  kinds: readonly MemberSource['kind'][],
  { page, perPage, count, rows }: PageRequest,
): Promise<Page<NamedMembership>> {
  await userOfId(deps, userId);
  const offset = (page - 1) * perPage;
  if (offset > MAX_OFFSET) throw badRequest();
  const after = rows?.after && placeOf(rows.after);
  if (after !== undefined && !kinds.includes(after.kind)) throw badRequest();
  const wanted: ListedMembership[] = [];
  let total = 0;
  for await (const membership of deps.store.members.ofUser(userId, kinds, after)) {
    if (total >= offset && wanted.length < perPage) wanted.push(membership);
    if (++total > Math.max(count ? MAX_TOTAL : 0, offset + perPage)) break;
  }
  const items = await named(deps, wanted);
  const more = offset + wanted.length < total;
  const last = wanted.at(-1)?.source;
  if (more && last !== undefined) rows?.ended({ sort: last.kind, id: last.id });
  return { items, total: total > MAX_TOTAL ? undefined : total, more };
}

const placeOf = ({ sort, id }: Position): MemberSource => ({
  kind: sort === 'group' ? 'group' : 'project',
  id,
});

/**
 * Counts the groups and projects that a user is a direct member of, at most 10,000 each. Only for the user and
 * administrators.
 * @throws 403, 404
 */
export async function countMemberships(
  deps: Deps,
  actor: Actor,
  userId: number,
): Promise<Record<MemberSource['kind'], number>> {
  await userOfId(deps, userId);
  if (signedIn(actor).user.id !== userId && !isAdministrator(actor)) throw forbidden();
  const count = async (kind: MemberSource['kind']) => {
    let found = 0;
    for await (const _ of deps.store.members.ofUser(userId, [kind])) if (++found === MAX_TOTAL) break;
    return found;
  };
  const [group, project] = await Promise.all([count('group'), count('project')]);
  return { group, project };
}

/** Adds names; leaves out deleted resources. */
async function named({ store }: Deps, memberships: readonly ListedMembership[]): Promise<NamedMembership[]> {
  const ids = (kind: MemberSource['kind']) =>
    memberships.flatMap(({ source }) => (source.kind === kind ? [source.id] : []));
  const [groups, projects] = await Promise.all([
    store.groups.getMany(ids('group')),
    store.projects.getMany(ids('project')),
  ]);
  const names = new Map<string, string>();
  for (const group of groups) if (group?.deletedAt === null) names.set(`group ${group.id}`, group.name);
  for (const project of projects) if (project !== undefined) names.set(`project ${project.id}`, project.name);
  return memberships.flatMap(({ source, accessLevel }) => {
    const name = names.get(`${source.kind} ${source.id}`);
    return name === undefined ? [] : [{ source, name, accessLevel }];
  });
}
