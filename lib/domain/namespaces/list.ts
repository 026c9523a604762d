/** Lists and look-ups of namespaces. */
import type { MembershipGrant } from '../../store/members/members.ts';
import type { ListedNamespace } from '../../store/namespaces/list.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { OWNER } from '../access/levels.ts';
import { visibleGroups } from '../access/visibility-filter.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { groupAccesses } from '../groups/details.ts';
import { listGroups } from '../groups/lists.ts';
import { visibleNamespace } from './place.ts';

/** A personal namespace or a group. */
export type Namespace = ListedNamespace;

/**
 * Lists the actor's own namespace, then by ID the groups the actor is a direct member of; for administrators, all
 * namespaces.
 * @param query.ownedOnly only those the actor owns
 * @param query.topLevelOnly no subgroups
 */
export async function listNamespaces(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  query: PageRequest & { search?: string; ownedOnly: boolean; topLevelOnly: boolean },
): Promise<Page<Namespace>> {
  const { user } = actor;
  if (isAdministrator(actor) && !query.ownedOnly)
    return deps.store.namespaceList.page({
      ...query,
      filter: visibleGroups(deps, actor, { many: true }),
    });
  const term = query.search?.trim().toLowerCase() ?? '';
  const own = [user.name, user.username].some((text) => text.toLowerCase().includes(term));
  const groups = (page: number) =>
    listGroups(deps, actor, {
      page,
      perPage: query.perPage,
      count: true,
      order: 'id',
      allAvailable: false,
      topLevelOnly: query.topLevelOnly,
      ...(query.ownedOnly ? { owned: true } : { direct: true }),
      ...(term === '' ? {} : { search: term }),
    });
  // They are few: the place where a page ends is the number of the next one.
  const page = Math.max(1, query.rows?.after?.id ?? query.page);
  const [before, here] = await Promise.all([own && page > 1 ? groups(page - 1) : undefined, groups(page)]);
  const end = (more: boolean) => {
    if (more) query.rows?.ended({ sort: '', id: page + 1 });
    return more;
  };
  const listed = here.items.map(({ group }): Namespace => ({ kind: 'group', group }));
  if (!own) return { ...here, items: listed, more: end(here.more) };
  // The actor's own namespace shifts all groups by one position.
  const last = before?.items.at(query.perPage - 1);
  const first: Namespace[] =
    page === 1 ? [{ kind: 'user', user }] : last === undefined ? [] : [{ kind: 'group', group: last.group }];
  const items = [...first, ...listed];
  return {
    items: items.slice(0, query.perPage),
    total: here.total === undefined ? undefined : here.total + 1,
    more: end(here.more || items.length > query.perPage),
  };
}

/** Returns a namespace by ID or path. Personal namespaces are visible to their owners and administrators. @throws `404 Namespace Not Found` */
export async function getNamespace(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  idOrPath: string,
): Promise<Namespace> {
  const found = await visibleNamespace(deps, actor, idOrPath);
  if (found?.kind === 'user') return { kind: 'user', user: found.owner };
  if (found?.kind === 'group') return { kind: 'group', group: found.access.group };
  const other = isAdministrator(actor) ? await deps.store.users.byUsername(idOrPath) : undefined;
  if (other === undefined) throw notFound('Namespace');
  return { kind: 'user', user: other };
}

const MAX_SUGGESTIONS = 50;

/**
 * Returns whether a path is taken, at the top level or in a group, and a free alternative. Paths in a group that the
 * actor cannot see count as free.
 */
export async function namespaceExists(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  path: string,
  parentId?: number,
): Promise<{ exists: boolean; suggests: string[] }> {
  let prefix = '';
  if (parentId !== undefined) {
    const [parent] = await groupAccesses(deps, actor, [parentId]);
    if (parent === undefined) return { exists: false, suggests: [] };
    prefix = `${parent.group.fullPath}/`;
  }
  const names = [path, ...Array.from({ length: MAX_SUGGESTIONS }, (_, i) => `${path}${i + 1}`)];
  const first = await deps.store.names.holder('path', prefix + path);
  if (first === undefined || !first.current || first.type === 'project')
    return { exists: false, suggests: [] };
  const holders = await deps.store.names.holders(
    'path',
    names.map((name) => prefix + name),
  );
  const free = names.find((_, i) => holders[i] === undefined || !holders[i].current);
  return { exists: true, suggests: free === undefined ? [] : [free] };
}

/** Maximum number of groups whose members are counted for one response, including descendants. */
const MAX_COUNTED = 100;

/** Maximum number of members to count per group: a response contains many groups. */
const MAX_MEMBERS = 500;

/**
 * Counts the members of each group and its descendants. Undefined where the actor does not own the group, or where
 * counting would be too expensive.
 */
export async function membersWithDescendants(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  namespaces: readonly Namespace[],
): Promise<(number | undefined)[]> {
  const visibleFilter = visibleGroups(deps, actor);
  const groups = namespaces.map((each) => (each.kind === 'group' ? each.group : undefined));
  await visibleFilter.prefetch(groups.flatMap((group) => (group === undefined ? [] : [group.id])));
  const levels = await visibleFilter.levels(groups);
  const places = await Promise.all(
    groups.map((group, i) => {
      const owned = isAdministrator(actor) || (levels[i] ?? 0) >= OWNER;
      return group !== undefined && owned ? withDescendants(deps, group.id) : [];
    }),
  );
  let left = MAX_COUNTED;
  return Promise.all(
    places.map(async (givers) => {
      if (givers.length === 0 || givers.length > left) return undefined;
      left -= givers.length;
      const found = await deps.store.members.listAll(givers, { page: 1, perPage: MAX_MEMBERS });
      return found.more ? undefined : found.items.length;
    }),
  );
}

/** The group and those inside, more than are counted when there are. */
async function withDescendants({ store }: Deps, groupId: number): Promise<MembershipGrant[]> {
  const ids = [groupId];
  for (const row of ['DIRECT', 'DEEP'] as const) {
    for await (const id of store.groups.rowsBelow(groupId, row, 'group')) {
      ids.push(id);
      if (ids.length > MAX_COUNTED) break;
    }
  }
  return ids.map((id) => ({ source: { kind: 'group', id } }));
}
