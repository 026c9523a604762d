/** What a group is shown with: the groups invited to it, and projects. */
import { randomBytes } from 'node:crypto';
import type { GroupRecord } from '../../records/groups.ts';
import type { ShareRecord } from '../../records/shares.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { groupAccess } from '../access/open-request.ts';
import { canSeeGroup } from '../access/permissions.ts';
import { accessesTo } from '../access/project-accesses.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';

/** Groups by id as the actor may see them; undefined for the others. */
export async function accessesToGroups(
  deps: Deps,
  actor: Actor,
  ids: readonly number[],
): Promise<(GroupAccess | undefined)[]> {
  const groups = await deps.store.groups.getMany(ids);
  const surroundings = new MembershipCache(deps);
  const above = [...new Set(groups.flatMap((group) => (group ? [...group.ancestorIds, group.id] : [])))];
  const sources = above.map((id) => ({ kind: 'group', id }) as const);
  await surroundings.read(above, sources, actor.kind === 'user' ? actor.user.id : undefined);
  return Promise.all(
    groups.map(async (group) => {
      const access = group && (await groupAccess(actor, group, surroundings));
      return access && canSeeGroup(actor, access) ? access : undefined;
    }),
  );
}

/** The groups a group was shared with, as far as the actor may know of them. */
export async function invitedGroups(
  deps: Deps,
  actor: Actor,
  { shares }: GroupRecord,
): Promise<{ group: GroupRecord; share: ShareRecord }[]> {
  if (shares.length === 0) return [];
  const accesses = await accessesToGroups(
    deps,
    actor,
    shares.map(({ groupId }) => groupId),
  );
  return shares.flatMap((share, i) => {
    const group = accesses[i]?.group;
    return group === undefined ? [] : [{ group, share }];
  });
}

/** What its owners register runners with; made when one of them first asks. @throws `404 Group Not Found` */
export async function runnersToken({ store }: Deps, { id }: GroupRecord): Promise<string> {
  const token =
    (await store.runnersTokens.ofGroup(id)) ??
    (await store.runnersTokens.giveGroup(id, randomBytes(15).toString('base64url')));
  if (token === undefined) throw notFound('Group');
  return token;
}

/** Projects a group is shown with, and rows looked at for them. */
const SHOWN = 100;
const LOOKED_AT = 1000;

/** The newest projects directly in a group, or shared with it, that the actor may see. */
export async function projectsShown(
  deps: Deps,
  actor: Actor,
  group: GroupRecord,
  row: 'DIRECT' | 'SHARED',
): Promise<ProjectAccess[]> {
  const found: ProjectAccess[] = [];
  let ids: number[] = [];
  let left = LOOKED_AT;
  const judge = async () => {
    for (const access of await accessesTo(deps, actor, ids)) {
      const stillInside = row === 'SHARED' || access?.project.namespaceId === group.id;
      if (access !== undefined && stillInside && found.length < SHOWN) found.push(access);
    }
    ids = [];
  };
  for await (const id of deps.store.groups.rowsBelow(group.id, row, 'project')) {
    ids.push(id);
    if (ids.length === SHOWN) await judge();
    if (found.length === SHOWN || --left === 0) break;
  }
  await judge();
  return found;
}
