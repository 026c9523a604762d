import type { DeletionMark } from '../../records/deletion.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import type { Actor, Viewer } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import type { GroupAbility, GroupAccess, ProjectAbility, ProjectAccess } from './types.ts';

const GUEST = 10 satisfies AccessLevel;
const REPORTER = 20 satisfies AccessLevel;
export const DEVELOPER = 30 satisfies AccessLevel;
export const MAINTAINER = 40 satisfies AccessLevel;
export const OWNER = 50 satisfies AccessLevel;

/** Whether the actor may know that the project exists. */
export function canSee(actor: Viewer, { project, level }: ProjectAccess): boolean {
  if (project.deletedAt !== null) return false;
  return isAdministrator(actor) || level > 0 || isReader(actor, { project, level });
}

/** Whether the actor may know that the group exists. */
export function canSeeGroup(actor: Viewer, { group, level, inside }: GroupAccess): boolean {
  if (group.deletedAt !== null) return false;
  return isAdministrator(actor) || level > 0 || inside === true || isLetIn(actor, group.visibility);
}

/** Whether the project's visibility alone lets the actor in. */
const isReader = (actor: Viewer, { project }: ProjectAccess): boolean => isLetIn(actor, project.visibility);

function isLetIn(actor: Viewer, visibility: Visibility): boolean {
  switch (visibility) {
    case 'public':
      return true;
    case 'internal':
      return actor.kind === 'user' && !actor.user.external;
    case 'private':
      return false;
  }
}

/** The least level that gives an ability; `reader` abilities come with seeing a public or internal project. */
const RULES: Record<
  ProjectAbility,
  { level: AccessLevel; reader: 'anyone' | 'signed-in' | 'nobody'; writes: boolean }
> = {
  read_project: { level: GUEST, reader: 'anyone', writes: false },
  read_code: { level: REPORTER, reader: 'anyone', writes: false },
  read_history: { level: REPORTER, reader: 'anyone', writes: false },
  fork_project: { level: REPORTER, reader: 'signed-in', writes: false },
  comment_on_code: { level: REPORTER, reader: 'signed-in', writes: true },
  push_code: { level: DEVELOPER, reader: 'nobody', writes: true },
  read_pipelines: { level: REPORTER, reader: 'anyone', writes: false },
  report_statuses: { level: DEVELOPER, reader: 'nobody', writes: true },
  read_branch_rules: { level: DEVELOPER, reader: 'nobody', writes: false },
  read_statistics: { level: REPORTER, reader: 'nobody', writes: false },
  read_members: { level: GUEST, reader: 'signed-in', writes: false },
  admin_members: { level: MAINTAINER, reader: 'nobody', writes: false },
  read_deploy_tokens: { level: MAINTAINER, reader: 'nobody', writes: false },
  admin_deploy_tokens: { level: MAINTAINER, reader: 'nobody', writes: false },
  read_audit_events: { level: DEVELOPER, reader: 'nobody', writes: false },
  admin_project: { level: MAINTAINER, reader: 'nobody', writes: false },
  archive_project: { level: OWNER, reader: 'nobody', writes: false },
  change_namespace: { level: OWNER, reader: 'nobody', writes: false },
  change_visibility_level: { level: OWNER, reader: 'nobody', writes: false },
  remove_project: { level: OWNER, reader: 'nobody', writes: false },
};

/** Whether somebody who sees the project may do this in it. An archived project takes no pushes, from anyone. */
export function can(actor: Viewer, access: ProjectAccess, ability: ProjectAbility): boolean {
  if (!canSee(actor, access)) return false;
  const rule = RULES[ability];
  if (rule.writes && access.project.archived) return false;
  if (isOff(access, ability)) return false;
  if (isAdministrator(actor)) return true;
  if (actor.kind === 'user' && access.level >= rule.level) return true;
  // What readers may is for those whom visibility lets in; membership alone gives its level and no more.
  if (!isReader(actor, access)) return false;
  if (levelsOf(access.project, ability).includes('private') && access.level === 0) return false;
  if (ability === 'read_pipelines' && access.project.settings['public_builds'] === false) return false;
  return rule.reader === 'anyone' || (rule.reader === 'signed-in' && actor.kind === 'user');
}

/** Features whose access level keeps an ability to members (`private`) or from everybody (`disabled`). */
const FEATURES: Readonly<Partial<Record<ProjectAbility, readonly string[]>>> = {
  read_code: ['repository'],
  read_history: ['repository'],
  fork_project: ['repository', 'forking'],
  comment_on_code: ['repository'],
  push_code: ['repository'],
  read_pipelines: ['repository', 'builds'],
  report_statuses: ['repository', 'builds'],
};

/** The least level that gives an ability in a group. */
const GROUP_RULES: Record<GroupAbility, { level: AccessLevel; reader: 'anyone' | 'signed-in' | 'nobody' }> = {
  read_group: { level: GUEST, reader: 'anyone' },
  read_group_members: { level: GUEST, reader: 'signed-in' },
  create_projects: { level: MAINTAINER, reader: 'nobody' },
  create_subgroup: { level: OWNER, reader: 'nobody' },
  admin_group_members: { level: OWNER, reader: 'nobody' },
  read_deploy_tokens: { level: MAINTAINER, reader: 'nobody' },
  admin_deploy_tokens: { level: OWNER, reader: 'nobody' },
  read_audit_events: { level: DEVELOPER, reader: 'nobody' },
  admin_group: { level: OWNER, reader: 'nobody' },
  remove_group: { level: OWNER, reader: 'nobody' },
};

/** The settings by which a group gives its projects' or groups' creation to others. */
const CREATORS: Partial<Record<GroupAbility, { setting: string; levels: Record<string, AccessLevel | 61> }>> =
  {
    create_projects: {
      setting: 'project_creation_level',
      levels: { noone: 61, maintainer: MAINTAINER, developer: DEVELOPER },
    },
    create_subgroup: { setting: 'subgroup_creation_level', levels: { owner: OWNER, maintainer: MAINTAINER } },
  };

/** Whether somebody who sees the group may do this in it. */
export function canInGroup(actor: Viewer, access: GroupAccess, ability: GroupAbility): boolean {
  if (!canSeeGroup(actor, access)) return false;
  const rule = GROUP_RULES[ability];
  const creators = CREATORS[ability];
  const set = creators?.levels[String(access.group.settings[creators.setting])];
  // Nothing is put into what is going.
  if (creators !== undefined && [access.group, ...access.parents].some(isMarkedForDeletion)) return false;
  if (isAdministrator(actor)) return true;
  if (actor.kind === 'user' && access.level >= (set ?? rule.level)) return true;
  if (access.inside === true) return ability === 'read_group';
  if (!isLetIn(actor, access.group.visibility)) return false;
  return rule.reader === 'anyone' || (rule.reader === 'signed-in' && actor.kind === 'user');
}

/** Whether its deletion was asked for and is to come. */
export const isMarkedForDeletion = ({ deletion }: { readonly deletion?: DeletionMark | null }): boolean =>
  (deletion ?? null) !== null;

/** As {@link requireAbility}, for a group. @throws 401, 403 */
export function requireGroupAbility(actor: Actor, access: GroupAccess, ability: GroupAbility): void {
  if (canInGroup(actor, access, ability)) return;
  throw actor.kind === 'anonymous' ? unauthorized() : forbidden();
}

/**
 * @throws 401 when an anonymous caller needs to sign in first, 403 when a signed-in one may not;
 *   `404 Repository Not Found` for the history of a repository that is switched off.
 * The project itself was found before: hiding it is the business of `open`.
 */
export function requireAbility(actor: Actor, access: ProjectAccess, ability: ProjectAbility): void {
  if (can(actor, access, ability)) return;
  const off = isOff(access, ability);
  if (ability === 'read_history' && off) throw notFound('Repository');
  throw actor.kind === 'anonymous' && !off ? unauthorized() : forbidden();
}

/** Whether the ability belongs to a feature that is switched off: for everybody, however they sign in. */
const isOff = ({ project }: ProjectAccess, ability: ProjectAbility): boolean =>
  levelsOf(project, ability).includes('disabled');

const levelsOf = ({ settings }: ProjectRecord, ability: ProjectAbility): readonly unknown[] =>
  (FEATURES[ability] ?? []).map((feature) => settings[`${feature}_access_level`]);

/** The signed-in user. @throws 401 */
export function signedIn(actor: Actor): Extract<Actor, { kind: 'user' }> {
  if (actor.kind === 'anonymous') throw unauthorized();
  return actor;
}

export const LEVEL_NAMES = {
  10: 'Guest',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
} as const;
