import type { MilestoneRecord } from '../../records/milestones.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ApiDeps } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';
import { projectUrl } from '../projects/present.ts';
import { milestone } from './present.ts';

/**
 * Milestones as responses show them, in their order; without those whose project or group is gone.
 * @param known projects that are not read again
 */
export async function presentedMilestones(
  deps: ApiDeps,
  found: readonly MilestoneRecord[],
  baseUrl: string,
  known: readonly ProjectRecord[] = [],
): Promise<ReturnType<typeof milestone>[]> {
  const idsOf = (kind: 'project' | 'group') => [
    ...new Set(found.flatMap(({ container }) => (container.kind === kind ? [container.id] : []))),
  ];
  const [projectIds, groupIds] = [idsOf('project'), idsOf('group')];
  const knownUrls = new Map(known.map((project) => [project.id, projectUrl(project, baseUrl)]));
  const unknownIds = projectIds.filter((id) => !knownUrls.has(id));
  const [projects, groups] = await Promise.all([
    unknownIds.length === 0 ? [] : deps.store.projects.getMany(unknownIds),
    groupIds.length === 0 ? [] : deps.store.groups.getMany(groupIds),
  ]);
  const urls = {
    project: new Map([
      ...knownUrls,
      ...unknownIds.map((id, i) => [id, projects[i] && projectUrl(projects[i], baseUrl)] as const),
    ]),
    group: new Map(groupIds.map((id, i) => [id, groups[i] && groupUrl(groups[i], baseUrl)])),
  };
  const now = deps.now();
  return found.flatMap((record) => {
    const url = urls[record.container.kind].get(record.container.id);
    return url === undefined ? [] : [milestone(record, url, now)];
  });
}
