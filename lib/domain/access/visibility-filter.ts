/** Filters lists by what the actor may see. Decided by the records, not by the index they were found in. */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ShareRecord } from '../../records/shares.ts';
import type { Viewer as StoreViewer, VisibilityFilter } from '../../store/projects/query.ts';
import { isAdministrator, type Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { MembershipCache } from './effective-level.ts';
import { groupAccess, projectAccess } from './open-request.ts';
import { canSee, canSeeGroup } from './permissions.ts';

export function viewerOf(actor: Viewer): StoreViewer {
  if (actor.kind === 'anonymous') return { kind: 'anonymous' };
  if (isAdministrator(actor)) return { kind: 'admin', id: actor.user.id };
  return { kind: 'user', id: actor.user.id, internal: !actor.user.external };
}

export const visibleProjects = (deps: Deps, actor: Viewer): VisibilityFilter<ProjectRecord> =>
  visibilityFilter(deps, actor, 'project', async (project, memberships) => {
    const access = await projectAccess(actor, project, memberships);
    return access !== undefined && canSee(actor, access) ? access.level : undefined;
  });

export const visibleGroups = (deps: Deps, actor: Viewer): VisibilityFilter<GroupRecord> =>
  visibilityFilter(deps, actor, 'group', async (group, memberships) => {
    const access = await groupAccess(actor, group, memberships);
    return access !== undefined && canSeeGroup(actor, access) ? access.level : undefined;
  });

/** One round trip per batch for what most records need; the cache is shared by all pages of a list. */
function visibilityFilter<R extends { ancestorIds: readonly number[]; shares: readonly ShareRecord[] }>(
  deps: Deps,
  actor: Viewer,
  kind: MemberSource['kind'],
  levelOf: (
    record: R,
    memberships: MembershipCache,
  ) => Promise<Awaited<ReturnType<VisibilityFilter<R>['levels']>>[number]>,
): VisibilityFilter<R> {
  const memberships = new MembershipCache(deps);
  const userId = actor.kind === 'user' ? actor.user.id : undefined;
  return {
    async prefetch(ids) {
      if (userId === undefined) return;
      const sources = ids.map((id) => ({ kind, id })).filter((source) => memberships.member(source) === null);
      await memberships.read([], sources, userId);
    },
    async levels(records) {
      const groups = new Set<number>();
      for (const record of records) {
        const related = [
          ...(record?.ancestorIds ?? []),
          ...(record?.shares ?? []).map((share) => share.groupId),
        ];
        for (const id of related) if (memberships.group(id) === null) groups.add(id);
      }
      const sources = [...groups].map((id): MemberSource => ({ kind: 'group', id }));
      if (groups.size > 0) await memberships.read([...groups], sources, userId);
      return Promise.all(
        records.map((record) => (record === undefined ? undefined : levelOf(record, memberships))),
      );
    },
  };
}
