/** Lists of groups, of the projects in a group, and of namespaces. */
import { decodeCursor, encodeCursor } from '../store/cursor.ts';
import type { GroupQuery, ListedGroup } from '../store/group-list.ts';
import type { Page } from '../store/paging.ts';
import type { ListedProject, ProjectQuery } from '../store/project-query.ts';
import type { GroupRecord, UserRecord } from '../store/records.ts';
import type { Actor, GroupAccess } from './access.ts';
import type { Deps } from './deps.ts';
import { notFound } from './errors.ts';
import { accessesToGroups } from './group-details.ts';
import { groupJudge, projectJudge, viewerOf } from './judges.ts';
import { visibleNamespace } from './namespaces.ts';
import { isAdministrator } from './permissions.ts';
import { starredByActor } from './stars.ts';

export interface GroupListInput extends Omit<GroupQuery, 'viewer' | 'judge' | 'all' | 'below' | 'after'> {
  /** Also groups that memberships do not give; default: only for administrators. Anonymous callers see these alone. */
  readonly allAvailable?: boolean;
  /** Where an earlier page of the same list for the same caller ended. */
  readonly cursor?: string;
  /** Only groups in this one. */
  readonly below?: { readonly access: GroupAccess; readonly deep: boolean };
}

const NOTHING = { items: [], total: 0, more: false } as const;

/** Groups the actor may see, with the cursor of what follows. @throws 400 for a cursor that is not of this list */
export async function listGroups(
  deps: Deps,
  actor: Actor,
  { allAvailable, below, cursor, ...query }: GroupListInput,
): Promise<Page<ListedGroup> & { next?: string }> {
  if (actor.kind === 'anonymous' && (query.owned || query.direct || query.minAccessLevel !== undefined)) {
    return NOTHING;
  }
  const all = actor.kind === 'anonymous' || (allAvailable ?? isAdministrator(actor));
  const { page: _p, perPage: _n, count: _c, ...list } = query;
  const which = [
    list,
    all,
    below?.access.group.id,
    below?.deep,
    actor.kind === 'user' ? actor.user.id : null,
  ];
  const open = below !== undefined && opens(actor, below.access, all);
  const found = await deps.store.groupList.page({
    ...query,
    all,
    ...(below === undefined ? {} : { below: { id: below.access.group.id, deep: below.deep, open } }),
    ...(cursor === undefined ? {} : { after: decodeCursor(which, cursor) }),
    viewer: viewerOf(actor),
    judge: groupJudge(deps, actor),
  });
  const next = found.more && found.last !== undefined ? { next: encodeCursor(which, found.last) } : {};
  return { ...found, ...next };
}

/** Projects in a group, and those it was invited to, as far as the actor may see them. */
export async function listGroupProjects(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  {
    deep,
    shared,
    starred,
    ...query
  }: Omit<ProjectQuery, 'viewer' | 'judge' | 'inGroup'> & {
    deep: boolean;
    shared: boolean;
    /** Only those the actor has starred. */
    starred?: boolean;
  },
): Promise<Page<ListedProject>> {
  const ofMine = query.owned || query.minAccessLevel !== undefined || starred;
  if (actor.kind === 'anonymous' && ofMine) return NOTHING;
  return deps.store.projects.list({
    ...query,
    ...(starred ? await starredByActor(deps, actor, query) : {}),
    inGroup: { id: access.group.id, deep, shared, open: opens(actor, access, true) },
    viewer: viewerOf(actor),
    judge: projectJudge(deps, actor),
  });
}

/** Whether rows below a group need no judgement: all there is the actor's to see, by a level that is inherited. */
const opens = (actor: Actor, { level }: GroupAccess, all: boolean): boolean =>
  level > 0 || (all && isAdministrator(actor));

/** What things have their paths in: a user, or a group. */
export type Namespace =
  | { readonly kind: 'user'; readonly user: UserRecord }
  | { readonly kind: 'group'; readonly group: GroupRecord };

/**
 * The actor's own namespace, then by id the groups the actor is a direct member of; administrators get all groups.
 * @param ownedOnly only those the actor owns
 */
export async function listNamespaces(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  query: { page: number; perPage: number; search?: string; ownedOnly: boolean },
): Promise<Page<Namespace>> {
  const { user } = actor;
  const everything = isAdministrator(actor) && !query.ownedOnly;
  const term = query.search?.trim().toLowerCase() ?? '';
  const own = [user.name, user.username].some((text) => text.toLowerCase().includes(term));
  const groups = (page: number) =>
    listGroups(deps, actor, {
      page,
      perPage: query.perPage,
      count: true,
      order: 'id',
      allAvailable: everything,
      ...(everything ? {} : query.ownedOnly ? { owned: true } : { direct: true }),
      ...(term === '' ? {} : { search: term }),
    });
  const [before, here] = await Promise.all([
    own && query.page > 1 ? groups(query.page - 1) : undefined,
    groups(query.page),
  ]);
  const listed = here.items.map(({ group }): Namespace => ({ kind: 'group', group }));
  if (!own) return { ...here, items: listed };
  // Everything stands one place later, behind the actor's own.
  const last = before?.items.at(query.perPage - 1);
  const first: Namespace[] =
    query.page === 1
      ? [{ kind: 'user', user }]
      : last === undefined
        ? []
        : [{ kind: 'group', group: last.group }];
  const items = [...first, ...listed];
  return {
    items: items.slice(0, query.perPage),
    total: here.total === undefined ? undefined : here.total + 1,
    more: here.more || items.length > query.perPage,
  };
}

/** By id or path. Personal namespaces are their owners' and administrators' to see. @throws `404 Namespace Not Found` */
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
 * Whether a path is taken, at the top or in a group, with one that is not. What stands in a group that the actor may
 * not see is not told of.
 */
export async function namespaceExists(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  path: string,
  parentId?: number,
): Promise<{ exists: boolean; suggests: string[] }> {
  let prefix = '';
  if (parentId !== undefined) {
    const [parent] = await accessesToGroups(deps, actor, [parentId]);
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
