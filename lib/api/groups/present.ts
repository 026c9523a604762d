import { markedOn } from '../../domain/deletion/mark-and-delete.ts';
import type { InstanceSettings } from '../../domain/settings/current.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ShareRecord } from '../../records/shares.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';

/** A group's page, on which links into it build. */
export const groupUrl = ({ fullPath }: Pick<GroupRecord, 'fullPath'>, baseUrl: string): string =>
  `${baseUrl}/groups/${fullPath}`;

/** What everyone who sees the group sees, in lists and alone; what it does not say itself, the instance does. */
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
    marked_for_deletion_on: record.deletion ? markedOn(record.deletion) : null,
    ...shownWhenSet(record),
  };
}

const SHOWN_WHEN_SET = [
  'membership_lock',
  'shared_runners_minutes_limit',
  'extra_shared_runners_minutes_limit',
  'shared_runners_setting',
  'file_template_project_id',
] as const;

const shownWhenSet = ({ settings }: GroupRecord) =>
  Object.fromEntries(SHOWN_WHEN_SET.filter((name) => name in settings).map((name) => [name, settings[name]]));

/** A group that was invited, as what it was invited to shows it. */
export const sharedWithGroup = ({ id, name, fullPath }: GroupRecord, share: ShareRecord) => ({
  group_id: id,
  group_name: name,
  group_full_path: fullPath,
  group_access_level: share.accessLevel,
  expires_at: share.expiresAt,
});

/** The namespace that a group is, as projects and lists of namespaces show it. */
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
