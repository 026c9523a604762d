/** Users and groups related to a project. */

import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';
import { listMembers } from '../members/list.ts';
import { invitationsTo } from './shares.ts';

/**
 * Lists all members of a project, including those of ancestor and invited groups, by ID.
 * @param query.search part of a name or username
 * @param query.skip IDs of users to leave out
 */
export async function projectUsers(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { search, skip, ...page }: PageRequest & { search?: string; skip?: readonly number[] },
): Promise<Page<UserRecord>> {
  const known = await invitationsTo(deps, actor, [access.project]);
  // Members of groups that the caller cannot see are left out.
  const shares = (known.get(access.project.id) ?? []).map(({ share }) => share);
  const found = await listMembers(
    deps,
    { ...access, project: { ...access.project, shares } },
    {
      ...page,
      after: page.rows?.after?.id,
      inherited: true,
      ...(search === undefined ? {} : { query: search }),
      ...(skip === undefined ? {} : { without: skip }),
    },
  );
  const { more, lastUserId } = found;
  if (more && lastUserId !== undefined) page.rows?.ended({ sort: '', id: lastUserId });
  return { ...found, items: found.items.map(({ user }) => user) };
}

export interface GroupsOfProject {
  /** Part of a name or path. */
  readonly search?: string;
  readonly skip?: readonly number[];
  /** Include invited groups, optionally with a minimum access level. */
  readonly invited?: { readonly minAccessLevel?: AccessLevel; readonly publicOnly: boolean };
}

/** Lists the ancestor groups of a project and optionally the invited ones, as far as the actor can see them, newest first. */
export async function projectGroups(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  { search, skip = [], invited, ...page }: PageRequest & GroupsOfProject,
): Promise<Page<GroupRecord>> {
  const [above, shared] = await Promise.all([
    groupAccesses(deps, actor, project.ancestorIds),
    invited === undefined ? undefined : invitationsTo(deps, actor, [project]),
  ]);
  const guests = (shared?.get(project.id) ?? []).filter(
    ({ group, share }) =>
      share.accessLevel >= (invited?.minAccessLevel ?? 0) &&
      !(invited?.publicOnly && group.visibility === 'private'),
  );
  const groups = [...above.flatMap((each) => each?.group ?? []), ...guests.map(({ group }) => group)];
  const term = search?.trim().toLowerCase() ?? '';
  const matching = [...new Map(groups.map((group) => [group.id, group])).values()]
    .filter(
      (group) =>
        !skip.includes(group.id) &&
        [group.name, group.path].some((text) => text.toLowerCase().includes(term)),
    )
    .toSorted((a, b) => b.id - a.id);
  const first = (page.page - 1) * page.perPage;
  const items = matching.slice(first, first + page.perPage);
  return { items, total: matching.length, more: first + items.length < matching.length };
}
