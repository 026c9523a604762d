/** Details of a group: invited groups, and projects. */
import type { GroupRecord } from '../../records/groups.ts';
import type { ShareRecord } from '../../records/shares.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { groupAccess } from '../access/open-request.ts';
import { canSeeGroup } from '../access/permissions.ts';
import { listedAccesses } from '../access/project-accesses.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor, Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** Returns groups by ID with the access of the actor; undefined for those the actor cannot see. */
export async function groupAccesses(
  deps: Deps,
  actor: Viewer,
  ids: readonly number[],
): Promise<(GroupAccess | undefined)[]> {
  const groups = await deps.store.groups.getMany(ids);
  const cache = new MembershipCache(deps);
  const groupIds = [...new Set(groups.flatMap((group) => (group ? [...group.ancestorIds, group.id] : [])))];
  const sources = groupIds.map((id) => ({ kind: 'group', id }) as const);
  await cache.read(groupIds, sources, actor.kind === 'user' ? actor.user.id : undefined);
  return Promise.all(
    groups.map(async (group) => {
      const access = group && (await groupAccess(actor, group, cache));
      return access && canSeeGroup(actor, access) ? access : undefined;
    }),
  );
}

/** Returns the groups that a group was shared with, as far as the actor can see them. */
export async function invitedGroups(
  deps: Deps,
  actor: Actor,
  { shares }: GroupRecord,
): Promise<{ group: GroupRecord; share: ShareRecord }[]> {
  if (shares.length === 0) return [];
  const accesses = await groupAccesses(
    deps,
    actor,
    shares.map(({ groupId }) => groupId),
  );
  return shares.flatMap((share, i) => {
    const group = accesses[i]?.group;
    return group === undefined ? [] : [{ group, share }];
  });
}

/** Maximum number of projects shown with a group, and of rows read for them. */
const MAX_PROJECTS = 100;
const MAX_ROWS = 1000;

/** Returns the newest projects directly in a group, or shared with it, that the actor can see. */
export async function projectsShown(
  deps: Deps,
  actor: Actor,
  group: GroupRecord,
  row: 'DIRECT' | 'SHARED',
): Promise<ProjectAccess[]> {
  const found: ProjectAccess[] = [];
  let ids: number[] = [];
  const read = listedAccesses(deps, actor);
  let remainingRows = MAX_ROWS;
  const addVisible = async () => {
    for (const access of await read(ids)) {
      const stillInside = row === 'SHARED' || access?.project.namespaceId === group.id;
      if (access !== undefined && stillInside && found.length < MAX_PROJECTS) found.push(access);
    }
    ids = [];
  };
  for await (const id of deps.store.groups.rowsBelow(group.id, row, 'project')) {
    ids.push(id);
    if (ids.length === MAX_PROJECTS) await addVisible();
    if (found.length === MAX_PROJECTS || --remainingRows === 0) break;
  }
  await addVisible();
  return found;
}
