import { MAINTAINER } from '../../domain/access/levels.ts';
import { can } from '../../domain/access/permissions.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import { type Actor, isAdministrator } from '../../domain/actor.ts';
import { attributesOfMany } from '../../domain/custom-attributes/custom-attributes.ts';
import { parentsOf } from '../../domain/forks/forks.ts';
import { lfsEnabledIn } from '../../domain/lfs/enabled.ts';
import { membershipsIn } from '../../domain/members/project-memberships.ts';
import { invitationsTo } from '../../domain/project-relations/shares.ts';
import { groupsOf, ownersOf } from '../../domain/projects/projects.ts';
import { cloneRoot } from '../../domain/repository/clone-url.ts';
import { shownRegistrationToken } from '../../domain/runners/registration-tokens.ts';
import { statisticsOf } from '../../domain/statistics/statistics.ts';
import type { ApiDeps } from '../endpoint.ts';
import { license } from '../statistics/license.ts';
import { projectStatistics } from '../statistics/present.ts';
import { projectBasic, projectFull, projectUrl, sharedWithGroup } from './present.ts';

/** Projects as the actor may see them. Anonymous callers always get the basic form. */
export async function presented(
  deps: ApiDeps,
  actor: Actor,
  accesses: readonly ProjectAccess[],
  baseUrl: string,
  simple: boolean,
  options: {
    readonly statistics?: boolean;
    readonly license?: boolean;
    readonly with_custom_attributes?: boolean;
    /** Whether those who may administer runners get the token with which they register: of a single project. */
    readonly runnersToken?: boolean;
  } = {},
) {
  const code = (access: ProjectAccess) => can(actor, access, 'read_code');
  const roots = { baseUrl, cloneRoot: await cloneRoot(deps, baseUrl) };
  const basic = (access: ProjectAccess) => projectBasic(access.project, roots, code(access));
  const records = accesses.map(({ project }) => project);
  const customAttributes =
    options.with_custom_attributes === true
      ? await attributesOfMany(
          deps,
          actor,
          'project',
          records.map(({ id }) => id),
        )
      : undefined;
  const attributes = (i: number) =>
    customAttributes === undefined ? {} : { custom_attributes: customAttributes[i] };
  if (simple || actor.kind === 'anonymous')
    return accesses.map((access, i) => ({ ...basic(access), ...attributes(i) }));
  const [owners, parents, memberships, invited, statistics, counts, groups, token] = await Promise.all([
    ownersOf(deps, records),
    parentsOf(deps, actor, records),
    membershipsIn(deps, actor.user.id, records),
    invitationsTo(deps, actor, records),
    options.statistics === true ? statisticsOf(deps, actor, accesses) : undefined,
    deps.store.issues.counts(records.map(({ id }) => id)),
    groupsOf(deps, records),
    options.runnersToken === true && can(actor, accesses[0]!, 'admin_runners')
      ? shownRegistrationToken(deps, { kind: 'project', id: records[0]!.id })
      : undefined,
  ]);
  const measured =
    options.license === true
      ? await deps.store.statistics.ofProjects(records.map(({ id }) => id))
      : undefined;
  return accesses.map((access, i) => {
    const { namespaceKind, namespaceId, ownerId } = access.project;
    const parent = parents.get(access.project.id);
    const group = namespaceKind === 'group' ? groups.get(namespaceId) : undefined;
    return {
      ...projectFull(access, roots, {
        owner: namespaceKind === 'user' ? owners.get(ownerId) : undefined,
        group,
        code: code(access),
        permissions: {
          ...memberships.get(access.project.id)!,
          // The owner of a personal namespace is shown as a member of its projects.
          ...(access.project.namespaceKind === 'user'
            ? { project: Math.min(access.level, MAINTAINER), group: 0 }
            : {}),
        },
        administrator: isAdministrator(actor),
        lfsEnabled: lfsEnabledIn(access.project, group),
        openIssues: can(actor, access, 'read_issues')
          ? counts[i]!.opened +
            (can(actor, access, 'read_confidential_issues') ? counts[i]!['opened-confidential'] : 0)
          : 0,
      }),
      shared_with_groups: (invited.get(access.project.id) ?? []).map(({ group, share }) =>
        sharedWithGroup(group, share),
      ),
      ...(statistics?.has(access.project.id)
        ? { statistics: projectStatistics(statistics.get(access.project.id)) }
        : {}),
      ...(measured === undefined || !code(access)
        ? {}
        : license(access.project, measured[i], projectUrl(access.project, baseUrl))),
      ...(parent === undefined ? {} : { forked_from_project: basic(parent) }),
      ...(token === undefined ? {} : { runners_token: token }),
      ...attributes(i),
    };
  });
}
