/** The instance settings on visibility: default levels, and levels restricted to administrators. */
import type { Visibility } from '../../records/visibility.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { InstanceSettings } from '../settings/current.ts';
import { lower } from '../visibility.ts';

/** Problems with a chosen visibility: the instance may restrict levels to administrators. */
export async function restrictionProblems(
  { settings }: Deps,
  actor: Actor,
  visibility: Visibility,
): Promise<string[]> {
  return isRestricted(await settings.current(), actor, visibility)
    ? [`${visibility} has been restricted by your GitLab administrator`]
    : [];
}

const isRestricted = (settings: InstanceSettings, actor: Actor, visibility: Visibility): boolean =>
  !isAdministrator(actor) && settings.restricted_visibility_levels.includes(visibility);

/**
 * The visibility of a new project or group for which the caller chose none.
 * @param most upper bound: the visibility of its parent or source
 */
export async function defaultVisibility(
  { settings }: Deps,
  actor: Actor,
  what: 'project' | 'group' | 'snippet',
  most: Visibility = 'public',
): Promise<Visibility> {
  const current = await settings.current();
  return allowed(current, actor, lower(current[`default_${what}_visibility`], most));
}

/** The visibility derived from another resource's: the highest level up to it that is not restricted. */
export const inheritedVisibility = async (
  { settings }: Deps,
  actor: Actor,
  visibility: Visibility,
): Promise<Visibility> => allowed(await settings.current(), actor, visibility);

const HIGHEST_FIRST: readonly Visibility[] = ['public', 'internal', 'private'];

function allowed(settings: InstanceSettings, actor: Actor, most: Visibility): Visibility {
  const levels = HIGHEST_FIRST.slice(HIGHEST_FIRST.indexOf(most));
  return levels.find((level) => !isRestricted(settings, actor, level)) ?? 'private';
}
