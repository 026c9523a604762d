import type { InstanceSettings } from '../../domain/settings/current.ts';
import { markedOn } from '../../records/deletion.ts';
import type { GroupRecord } from '../../records/groups.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';

/** URL of the group's page; the base of links into the group. */
export const groupUrl = ({ fullPath }: Pick<GroupRecord, 'fullPath'>, baseUrl: string): string =>
  `${baseUrl}/groups/${fullPath}`;

/** The fields for everyone who may see the group, in lists and alone. Settings that are not set have the instance's defaults. */
export function group(
  record: GroupRecord,
  baseUrl: string,
  instance: Pick<InstanceSettings, 'default_branch_protection'>,
) {
  const { settings } = record;
  const setting = <T>(name: string, fallback: T): T => (settings[name] as T | undefined) ?? fallback;
  return {
    id: record.id,
    web_url: groupUrl(record, baseUrl),
    name: record.name,
    path: record.path,
    description: record.description,
    visibility: record.visibility,
    share_with_group_lock: setting('share_with_group_lock', false),
    require_two_factor_authentication: setting('require_two_factor_authentication', false),
    two_factor_grace_period: setting('two_factor_grace_period', 48),
    project_creation_level: setting('project_creation_level', 'maintainer'),
    auto_devops_enabled: setting('auto_devops_enabled', null),
    subgroup_creation_level: setting('subgroup_creation_level', 'owner'),
    emails_disabled: setting('emails_disabled', null),
    mentions_disabled: setting('mentions_disabled', null),
    lfs_enabled: setting('lfs_enabled', true),
    default_branch_protection: setting<number>(
      'default_branch_protection',
      instance.default_branch_protection,
    ),
    avatar_url: avatarUrl('group', record, baseUrl),
    request_access_enabled: setting('request_access_enabled', true),
    full_name: record.fullName,
    full_path: record.fullPath,
    created_at: record.createdAt,
    parent_id: record.parentId,
    file_template_project_id: setting('file_template_project_id', null),
    marked_for_deletion_on: record.deletion ? markedOn(record.deletion) : null,
    ...settingsShownIfSet(record),
  };
}

const SHOWN_IF_SET = [
  'membership_lock',
  'shared_runners_minutes_limit',
  'extra_shared_runners_minutes_limit',
  'shared_runners_setting',
] as const;

const settingsShownIfSet = ({ settings }: GroupRecord) =>
  Object.fromEntries(SHOWN_IF_SET.filter((name) => name in settings).map((name) => [name, settings[name]]));

/** A group as a namespace, for projects and lists of namespaces. */
export const groupNamespace = (record: GroupRecord, baseUrl: string) => ({
  id: record.id,
  name: record.name,
  path: record.path,
  kind: 'group' as const,
  full_path: record.fullPath,
  parent_id: record.parentId,
  avatar_url: avatarUrl('group', record, baseUrl),
  web_url: groupUrl(record, baseUrl),
});
