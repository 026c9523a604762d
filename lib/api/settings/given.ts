import { locateGroup } from '../../domain/access/locate.ts';
import { invalid } from '../../domain/errors.ts';
import { aliases } from '../../domain/settings/attributes.ts';
import type { SettingValue } from '../../store/settings/settings.ts';
import type { ApiDeps } from '../endpoint.ts';
import type { Given } from './parameters.ts';

/**
 * Settings by their own names, as rules know them. Of two names that are both given the setting's own counts: who sends
 * back all that was read may have changed that one alone.
 *
 * @throws 400 for a group that does not exist
 */
export async function settingsGiven(
  deps: ApiDeps,
  {
    performance_bar_allowed_group_path: path,
    performance_bar_allowed_group_id: former,
    performance_bar_enabled: enabled,
    ...given
  }: Given,
): Promise<Readonly<Record<string, SettingValue>>> {
  const settings: Record<string, SettingValue> = {};
  for (const [name, value] of Object.entries(given)) {
    const own = aliases[name]?.of ?? name;
    if (value !== undefined && (own === name || given[own] === undefined)) settings[own] = value;
  }
  // Both protocols have a word of their own.
  const protocol = settings['enabled_git_access_protocol'];
  if (protocol === '' || protocol === 'nil') settings['enabled_git_access_protocol'] = null;
  const asked = enabled === false ? null : path === undefined ? (former as string | null | undefined) : path;
  if (asked !== undefined) settings['performance_bar_allowed_group_id'] = await groupId(deps, asked);
  return settings;
}

async function groupId(deps: ApiDeps, path: string | null): Promise<number | null> {
  if (path === null || path.trim() === '') return null;
  const { id } = await locateGroup(deps, path);
  const group = id === 0 ? undefined : await deps.store.groups.get(id);
  if (group === undefined) throw invalid({ performance_bar_allowed_group_id: ['not found'] });
  return group.id;
}
