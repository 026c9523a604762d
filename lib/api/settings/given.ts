import { locateGroup } from '../../domain/access/locate.ts';
import { invalid } from '../../domain/errors.ts';
import { aliases } from '../../domain/settings/attributes.ts';
import type { SettingValue } from '../../store/settings/settings.ts';
import type { ApiDeps } from '../endpoint.ts';
import type { Given } from './parameters.ts';

/**
 * Resolves aliases to the canonical names of settings. The canonical name wins over its alias: a client that sends back
 * everything it read may have changed only that one.
 *
 * @throws 400 for a group that does not exist
 */
export async function settingsGiven(
  deps: ApiDeps,
  {
    performance_bar_allowed_group_path: path,
    performance_bar_allowed_group_id: legacyPath,
    performance_bar_enabled: enabled,
    ...given
  }: Given,
): Promise<Readonly<Record<string, SettingValue>>> {
  const settings: Record<string, SettingValue> = {};
  for (const [name, value] of Object.entries(given)) {
    const canonical = aliases[name]?.of ?? name;
    if (value !== undefined && (canonical === name || given[canonical] === undefined))
      settings[canonical] = value;
  }
  // `nil` and an empty text mean both protocols.
  const protocol = settings['enabled_git_access_protocol'];
  if (protocol === '' || protocol === 'nil') settings['enabled_git_access_protocol'] = null;
  const givenPath = path === undefined ? (legacyPath as string | null | undefined) : path;
  const groupPath = enabled === false ? null : givenPath;
  if (groupPath !== undefined) settings['performance_bar_allowed_group_id'] = await groupId(deps, groupPath);
  return settings;
}

async function groupId(deps: ApiDeps, path: string | null): Promise<number | null> {
  if (path === null || path.trim() === '') return null;
  const { id } = await locateGroup(deps, path);
  const group = id === 0 ? undefined : await deps.store.groups.get(id);
  if (group === undefined) throw invalid({ performance_bar_allowed_group_id: ['not found'] });
  return group.id;
}
