import type { GroupAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { attributesOfMany } from '../../domain/custom-attributes/custom-attributes.ts';
import { invitedGroups, projectsShown } from '../../domain/groups/details.ts';
import { shownRegistrationToken } from '../../domain/runners/registration-tokens.ts';
import type { ApiDeps } from '../endpoint.ts';
import { sharedWithGroup } from '../projects/present.ts';
import { presented as presentedProjects } from '../projects/presented.ts';
import { group } from './present.ts';

/**
 * A single group with the groups it is shared with and, on request, its projects.
 * @param options.owned whether the caller is an owner (default: true, since only owners change a group)
 */
export async function groupDetail(
  deps: ApiDeps,
  actor: Actor,
  access: Pick<GroupAccess, 'group'>,
  baseUrl: string,
  options: { withProjects: boolean; withCustomAttributes?: boolean; owned?: boolean } = {
    withProjects: false,
  },
) {
  const record = access.group;
  const projectsOf = async (row: 'DIRECT' | 'SHARED') =>
    presentedProjects(deps, actor, await projectsShown(deps, actor, record, row), baseUrl, false);
  const [invited, projects, shared, customAttributes, token] = await Promise.all([
    invitedGroups(deps, actor, record),
    options.withProjects ? projectsOf('DIRECT') : undefined,
    options.withProjects ? projectsOf('SHARED') : undefined,
    options.withCustomAttributes ? attributesOfMany(deps, actor, 'group', [record.id]) : undefined,
    options.owned === false ? undefined : shownRegistrationToken(deps, { kind: 'group', id: record.id }),
  ]);
  const preventsSharing = record.settings['prevent_sharing_groups_outside_hierarchy'] === true;
  return {
    ...group(record, baseUrl, await deps.settings.current()),
    shared_with_groups: invited.map(({ group: invitedGroup, share }) => sharedWithGroup(invitedGroup, share)),
    ...(record.parentId === null ? { prevent_sharing_groups_outside_hierarchy: preventsSharing } : {}),
    ...(projects === undefined ? {} : { projects, shared_projects: shared }),
    ...(token === undefined ? {} : { runners_token: token }),
    ...(customAttributes === undefined ? {} : { custom_attributes: customAttributes[0] }),
  };
}
