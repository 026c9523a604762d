/** Lists of groups, and of the projects in a group. */

import type { GroupQuery, ListedGroup } from '../../store/groups/list.ts';
import type { ListedProject, ProjectQuery } from '../../store/projects/query.ts';
import type { Page } from '../../store/table/paging.ts';
import type { GroupAccess } from '../access/types.ts';
import { viewerOf, visibleGroups, visibleProjects } from '../access/visibility-filter.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { pageByCursor } from '../page-by-cursor.ts';
import { starredByActor } from '../stars/stars.ts';

export interface GroupListInput extends Omit<GroupQuery, 'viewer' | 'filter' | 'all' | 'below' | 'after'> {
  /** Include groups visible without membership. Default: only for administrators. Anonymous callers see only these. */
  readonly allAvailable?: boolean;
  /** End of the previous page of the same list for the same caller. */
  readonly cursor?: string;
  /** Only groups in this group. */
  readonly below?: { readonly access: GroupAccess; readonly deep: boolean };
}

const NOTHING = { items: [], total: 0, more: false } as const;

/** Lists groups the actor can see, with the cursor of the next page. @throws 400 for a cursor of another list */
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
  return pageByCursor(which, { cursor }, (after) =>
    deps.store.groupList.page({
      ...query,
      all,
      ...(below === undefined ? {} : { below: { id: below.access.group.id, deep: below.deep, open } }),
      ...after,
      viewer: viewerOf(actor),
      filter: visibleGroups(deps, actor, { many: true }),
    }),
  );
}

/** Lists projects in a group and those shared with it, as far as the actor can see them. */
export async function listGroupProjects(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  {
    deep,
    shared,
    starred,
    ...query
  }: Omit<ProjectQuery, 'viewer' | 'filter' | 'inGroup'> & {
    deep: boolean;
    /** Include projects shared with the group, or only these. */
    shared: boolean | 'only';
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
    filter: visibleProjects(deps, actor, { many: true }),
  });
}

/** Whether the rows of a group need no visibility filter: the actor can see all of them by an inherited level. */
const opens = (actor: Actor, { level }: GroupAccess, all: boolean): boolean =>
  level > 0 || (all && isAdministrator(actor));
