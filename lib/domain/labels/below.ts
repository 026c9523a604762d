/** Where the labels below a group are: in its subgroups and projects, as far as the actor may see them. */

import type { Container } from '../../records/labels.ts';
import { can } from '../access/permissions.ts';
import { listedAccesses } from '../access/project-accesses.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';

/** Subgroups, and projects, whose labels are listed: the newest. */
const MAX_BELOW = 100;

export interface Below {
  /** Subgroups at every depth; of projects then those at every depth too. */
  readonly groups: boolean;
  readonly projects: boolean;
}

export async function containersBelow(
  deps: Deps,
  actor: Actor,
  { group }: GroupAccess,
  { groups, projects }: Below,
): Promise<Container[]> {
  const rows = groups ? (['DIRECT', 'DEEP'] as const) : (['DIRECT'] as const);
  const newest = async (kind: 'group' | 'project') => {
    const ids: number[] = [];
    for (const row of rows)
      for await (const id of deps.store.groups.rowsBelow(group.id, row, kind))
        if (ids.push(id) === MAX_BELOW) return ids;
    return ids;
  };
  const [groupIds, projectIds] = await Promise.all([
    groups ? newest('group') : [],
    projects ? newest('project') : [],
  ]);
  const [seenGroups, seenProjects] = await Promise.all([
    groupIds.length === 0 ? [] : groupAccesses(deps, actor, groupIds),
    projectIds.length === 0 ? [] : listedAccesses(deps, actor)(projectIds),
  ]);
  return [
    ...groupIds
      .filter((_, i) => seenGroups[i]?.group.ancestorIds.includes(group.id))
      .map((id) => ({ kind: 'group', id }) as const),
    ...projectIds
      .filter((_, i) => {
        const access = seenProjects[i];
        return access?.project.ancestorIds.includes(group.id) && can(actor, access, 'read_label');
      })
      .map((id) => ({ kind: 'project', id }) as const),
  ];
}
