/** What the instance's settings say about visibility: what is given to what nobody chose for, and what few may choose. */
import type { Visibility } from '../../records/visibility.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { InstanceSettings } from '../settings/current.ts';
import { lower } from '../visibility.ts';

/** What is wrong when somebody chooses a visibility: some are restricted to administrators. */
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
 * What something has that nobody chose a visibility for.
 * @param most what it stands in or is made of has no room for more
 */
export async function unchosenVisibility(
  { settings }: Deps,
  actor: Actor,
  what: 'project' | 'group',
  most: Visibility = 'public',
): Promise<Visibility> {
  const now = await settings.current();
  return allowed(now, actor, lower(now[`default_${what}_visibility`], most));
}

/** The visibility that a thing gets from another: the most of it that is not restricted. */
export const inheritedVisibility = async (
  { settings }: Deps,
  actor: Actor,
  visibility: Visibility,
): Promise<Visibility> => allowed(await settings.current(), actor, visibility);

const DOWNWARDS: readonly Visibility[] = ['public', 'internal', 'private'];

function allowed(settings: InstanceSettings, actor: Actor, most: Visibility): Visibility {
  const levels = DOWNWARDS.slice(DOWNWARDS.indexOf(most));
  return levels.find((level) => !isRestricted(settings, actor, level)) ?? 'private';
}
