/** Who sees what in lists: the records decide, not where they were found. */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ShareRecord } from '../../records/shares.ts';
import type { Viewer, VisibilityFilter } from '../../store/projects/query.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { MembershipCache } from './effective-level.ts';
import { groupAccess, projectAccess } from './open-request.ts';
import { canSee, canSeeGroup } from './permissions.ts';

export function viewerOf(actor: Actor): Viewer {
  if (actor.kind === 'anonymous') return { kind: 'anonymous' };
  if (isAdministrator(actor)) return { kind: 'admin', id: actor.user.id };
  return { kind: 'user', id: actor.user.id, internal: !actor.user.external };
}

export const visibleProjects = (deps: Deps, actor: Actor): VisibilityFilter<ProjectRecord> =>
  judge(deps, actor, 'project', async (project, surroundings) => {
    const access = await projectAccess(actor, project, surroundings);
    return access !== undefined && canSee(actor, access) ? access.level : undefined;
  });

export const visibleGroups = (deps: Deps, actor: Actor): VisibilityFilter<GroupRecord> =>
  judge(deps, actor, 'group', async (group, surroundings) => {
    const access = await groupAccess(actor, group, surroundings);
    return access !== undefined && canSeeGroup(actor, access) ? access.level : undefined;
  });

/** One round trip for what most records need, together; what was read serves all pages of a walk. */
function judge<R extends { ancestorIds: readonly number[]; shares: readonly ShareRecord[] }>(
  deps: Deps,
  actor: Actor,
  kind: MemberSource['kind'],
  levelOf: (
    record: R,
    surroundings: MembershipCache,
  ) => Promise<Awaited<ReturnType<VisibilityFilter<R>['levels']>>[number]>,
): VisibilityFilter<R> {
  const surroundings = new MembershipCache(deps);
  const userId = actor.kind === 'user' ? actor.user.id : undefined;
  return {
    async prefetch(ids) {
      if (userId === undefined) return;
      const sources = ids
        .map((id) => ({ kind, id }))
        .filter((source) => surroundings.member(source) === null);
      await surroundings.read([], sources, userId);
    },
    async levels(records) {
      const groups = new Set<number>();
      for (const record of records) {
        const around = [
          ...(record?.ancestorIds ?? []),
          ...(record?.shares ?? []).map((share) => share.groupId),
        ];
        for (const id of around) if (surroundings.group(id) === null) groups.add(id);
      }
      const sources = [...groups].map((id): MemberSource => ({ kind: 'group', id }));
      if (groups.size > 0) await surroundings.read([...groups], sources, userId);
      return Promise.all(
        records.map((record) => (record === undefined ? undefined : levelOf(record, surroundings))),
      );
    },
  };
}
