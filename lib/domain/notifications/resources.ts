import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { effectiveAccess, MembershipCache } from '../access/effective-level.ts';
import { resourceOf } from '../access/open-request.ts';
import type { Deps } from '../deps.ts';

/** A project and its groups. */
export interface ProjectResource {
  readonly project: ProjectRecord;
  /** From the direct parent to the top-level group. */
  readonly groups: readonly GroupRecord[];
  /** Projects and groups whose members are members of the project. */
  readonly memberSources: readonly MemberSource[];
}

/** @returns undefined when the project or one of its groups is deleted */
export async function projectResourceOf(deps: Deps, projectId: number): Promise<ProjectResource | undefined> {
  const project = await deps.store.projects.get(projectId);
  if (project === undefined) return undefined;
  const known = new MembershipCache(deps);
  await known.read(project.ancestorIds, [], undefined);
  const found = await effectiveAccess(known, resourceOf(project), undefined);
  if (found === undefined) return undefined;
  const groups = found.parents;
  return { project, groups, memberSources: await memberSourcesOf(deps, project, groups) };
}

/** Projects and groups whose members are members of a project in these groups. */
export async function memberSourcesOf(
  { store }: Deps,
  project: ProjectRecord,
  parents: readonly GroupRecord[],
): Promise<MemberSource[]> {
  const shares = [project, ...parents].flatMap((each) => each.shares);
  const invited = await store.groups.getMany([...new Set(shares.map(({ groupId }) => groupId))]);
  const groups = new Set([
    ...parents.map(({ id }) => id),
    ...invited.flatMap((group) => (group === undefined ? [] : [group.id, ...group.ancestorIds])),
  ]);
  return [sourceOf(project), ...[...groups].map((id) => ({ kind: 'group', id }) as const)];
}

/** A group, then its ancestors. */
export interface GroupResource {
  readonly project?: undefined;
  readonly memberSources?: undefined;
  readonly groups: readonly GroupRecord[];
}

/** @returns undefined when the group or one of its ancestors is deleted */
export async function groupResourceOf(deps: Deps, groupId: number): Promise<GroupResource | undefined> {
  const subject = { source: { kind: 'group', id: groupId } as const, parentId: groupId, shares: [] };
  const found = await effectiveAccess(new MembershipCache(deps), subject, undefined);
  return found && { groups: found.parents };
}

/** Whether mail is turned off for the project or one of its groups. */
export const isMuted = (resource: ProjectResource | GroupResource): boolean =>
  [...(resource.project === undefined ? [] : [resource.project]), ...resource.groups].some(
    ({ settings }) => settings['emails_disabled'] === true,
  );

/** Scopes of notification settings in the order of precedence, without the global one. */
export const scopesOf = ({ project, groups }: ProjectResource | GroupResource): MemberSource[] => [
  ...(project === undefined ? [] : [sourceOf(project)]),
  ...groups.map(({ id }) => ({ kind: 'group', id }) as const),
];

export const sourceOf = ({ id }: ProjectRecord) => ({ kind: 'project', id }) as const;
