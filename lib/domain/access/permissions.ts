import type { DeletionMark } from '../../records/deletion.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { type Actor, isAdministrator, type Viewer } from '../actor.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import { GROUP_RULES, type GroupAbility, PROJECT_RULES, type ProjectAbility } from './abilities/all.ts';
import { GUEST, REPORTER } from './levels.ts';
import type { GroupAccess, ProjectAccess } from './types.ts';

/** Whether the actor may know that the project exists. */
export function canSee(actor: Viewer, { project, level }: ProjectAccess): boolean {
  if (project.deletedAt !== null) return false;
  return isAdministrator(actor) || level > 0 || isReader(actor, { project, level });
}

/** Whether the actor may know that the group exists. */
export function canSeeGroup(actor: Viewer, { group, level, hasDescendantMembership }: GroupAccess): boolean {
  if (group.deletedAt !== null) return false;
  return (
    isAdministrator(actor) ||
    level > 0 ||
    hasDescendantMembership === true ||
    hasVisibilityAccess(actor, group.visibility)
  );
}

/** Whether the project's visibility alone gives the actor access. */
const isReader = (actor: Viewer, { project }: ProjectAccess): boolean =>
  hasVisibilityAccess(actor, project.visibility);

function hasVisibilityAccess(actor: Viewer, visibility: Visibility): boolean {
  switch (visibility) {
    case 'public':
      return true;
    case 'internal':
      return actor.kind === 'user' && !actor.user.external;
    case 'private':
      return false;
  }
}

/** Whether the actor has an ability in a project. In an archived project nobody has abilities that write. */
export function can(actor: Viewer, access: ProjectAccess, ability: ProjectAbility): boolean {
  if (!canSee(actor, access)) return false;
  const rule = PROJECT_RULES[ability];
  if (rule.writes && access.project.archived) return false;
  if (isOff(access, ability)) return false;
  if (isAdministrator(actor)) return true;
  if (actor.kind === 'user' && access.level >= rule.level) return true;
  // Reader abilities come from the project's visibility; a membership grants those of its level only.
  if (!isReader(actor, access)) return false;
  if (isWithout(access, ability, keptFrom(access.level))) return false;
  if (OF_BUILDS.includes(ability) && access.project.settings['public_builds'] === false) return false;
  return rule.reader === 'anyone' || (rule.reader === 'signed-in' && actor.kind === 'user');
}

/** A project to an actor who has that level in it. */
export function accessAt(
  actor: Viewer,
  project: ProjectRecord,
  level: ProjectAccess['level'],
): ProjectAccess {
  const access = { project, level };
  return { ...access, hidesProposals: !can(actor, access, 'read_merge_requests') };
}

/** What `public_builds` keeps to members. */
const OF_BUILDS: readonly ProjectAbility[] = ['read_pipelines', 'read_pipeline_schedules'];

/** Whether the actor has an ability in a group. */
export function canInGroup(actor: Viewer, access: GroupAccess, ability: GroupAbility): boolean {
  if (!canSeeGroup(actor, access)) return false;
  const rule = GROUP_RULES[ability];
  const { creation } = rule;
  const configured = creation?.levels[String(access.group.settings[creation.setting])];
  // Nothing is created in what is about to be deleted.
  if (creation !== undefined && [access.group, ...access.parents].some(isMarkedForDeletion)) return false;
  if (isAdministrator(actor)) return true;
  if (actor.kind === 'user' && access.level >= (configured ?? rule.level)) return true;
  if (access.hasDescendantMembership === true) return ability === 'read_group';
  if (!hasVisibilityAccess(actor, access.group.visibility)) return false;
  return rule.reader === 'anyone' || (rule.reader === 'signed-in' && actor.kind === 'user');
}

/** Whether its deletion is scheduled. */
export const isMarkedForDeletion = ({ deletion }: { readonly deletion?: DeletionMark | null }): boolean =>
  (deletion ?? null) !== null;

/** Like {@link requireAbility}, for a group. @throws 401, 403 */
export function requireGroupAbility(actor: Actor, access: GroupAccess, ability: GroupAbility): void {
  if (canInGroup(actor, access, ability)) return;
  throw actor.kind === 'anonymous' ? unauthorized() : forbidden();
}

/**
 * Requires an ability in a project that the actor may see ({@link openRequest} has checked that).
 * @throws 401 if an anonymous caller has to sign in first, 403 if a signed-in one lacks the ability;
 *   `404 Repository Not Found` for the history of a disabled repository
 */
export function requireAbility(actor: Actor, access: ProjectAccess, ability: ProjectAbility): void {
  if (can(actor, access, ability)) return;
  const off = isOff(access, ability);
  if (ability === 'read_history' && off) throw notFound('Repository');
  throw actor.kind === 'anonymous' && !off ? unauthorized() : forbidden();
}

/** Whether the ability belongs to a disabled feature. That applies to everybody, administrators included. */
const isOff = (access: ProjectAccess, ability: ProjectAbility): boolean =>
  isWithout(access, ability, (_, setting) => setting === 'disabled');

/** What the level of a member does not open, by a feature and its setting. Merge requests for members are for Reporters. */
const keptFrom =
  (level: ProjectAccess['level']): Lacks =>
  (feature, setting) =>
    setting === 'disabled' ||
    (setting === 'private' && level < (feature === 'merge_requests' ? REPORTER : GUEST));

type Lacks = (feature: string, setting: unknown) => boolean;

/** Whether a feature that the ability needs is lacking; where any of several is enough, all of them. */
function isWithout({ project: { settings } }: ProjectAccess, ability: ProjectAbility, lacks: Lacks): boolean {
  const { features = [], needs } = PROJECT_RULES[ability];
  const isLacking = (feature: string) => lacks(feature, settings[`${feature}_access_level`]);
  return needs === 'any' ? features.every(isLacking) : features.some(isLacking);
}

/** The signed-in user. @throws 401 */
export function signedIn(actor: Actor): Extract<Actor, { kind: 'user' }> {
  if (actor.kind === 'anonymous') throw unauthorized();
  return actor;
}
