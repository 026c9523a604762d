import { byId } from '../../records/by-id.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ApiDeps } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';
import { projectUrl } from '../projects/present.ts';
import { milestone } from './present.ts';

/**
 * Milestones as responses show them, in their order; without those whose project or group is gone.
 * @param known is not read again
 */
export async function presentedMilestones(
  deps: ApiDeps,
  found: readonly MilestoneRecord[],
  baseUrl: string,
  known: { readonly projects?: readonly ProjectRecord[]; readonly groups?: readonly GroupRecord[] } = {},
): Promise<ReturnType<typeof milestone>[]> {
  const idsOf = (kind: 'project' | 'group') => [
    ...new Set(found.flatMap(({ container }) => (container.kind === kind ? [container.id] : []))),
  ];
  const ofProjects = byId(known.projects ?? []);
  const ofGroups = byId(known.groups ?? []);
  const projectIds = idsOf('project').filter((id) => !ofProjects.has(id));
  const groupIds = idsOf('group').filter((id) => !ofGroups.has(id));
  const [projects, groups] = await Promise.all([
    projectIds.length === 0 ? [] : deps.store.projects.getMany(projectIds),
    groupIds.length === 0 ? [] : deps.store.groups.getMany(groupIds),
  ]);
  for (const [id, project] of byId(projects)) ofProjects.set(id, project);
  for (const [id, group] of byId(groups)) ofGroups.set(id, group);
  const urlOf = ({ kind, id }: MilestoneRecord['container']): string | undefined => {
    if (kind === 'project') return ofProjects.has(id) ? projectUrl(ofProjects.get(id)!, baseUrl) : undefined;
    return ofGroups.has(id) ? groupUrl(ofGroups.get(id)!, baseUrl) : undefined;
  };
  const now = deps.now();
  return found.flatMap((record) => {
    const url = urlOf(record.container);
    return url === undefined ? [] : [milestone(record, url, now)];
  });
}
