import type { ProjectAccess } from '../../domain/access/types.ts';
import { DEFAULT_TIMEOUT } from '../../domain/jobs/time-limit.ts';
import type { ProjectMemberships } from '../../domain/members/project-memberships.ts';
import { LEVEL_NUMBERS } from '../../domain/notifications/levels.ts';
import { cloneUrl } from '../../domain/repository/clone-url.ts';
import { markedOn } from '../../records/deletion.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { NotificationLevel } from '../../records/notifications.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ShareRecord } from '../../records/shares.ts';
import { storageOf } from '../../records/storages.ts';
import type { UserRecord } from '../../records/users.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';
import { userBasic } from '../users/present.ts';
import { projectIdentity } from './identity.ts';

const setting = <T>(project: ProjectRecord, name: string, fallback: T): T =>
  (project.settings[name] as T | undefined) ?? fallback;

/** URL of the project, the base of all links into it. */
export const projectUrl = (project: ProjectRecord, baseUrl: string): string =>
  `${baseUrl}/${project.fullPath}`;

export interface Roots {
  readonly baseUrl: string;
  readonly cloneRoot: string;
}

/**
 * The fields that everybody with access to the project sees; anonymous callers see no others (the "simple" form).
 * @param roots the base URLs of web pages and of clone URLs
 * @param code whether the caller may read the code, which the default branch and the README belong to
 * @param namespaceAvatar URL of the avatar of its group or owner, where these are read
 */
export function projectBasic(
  project: ProjectRecord,
  { baseUrl, cloneRoot }: Roots,
  code: boolean,
  namespaceAvatar: string | null = null,
) {
  const url = projectUrl(project, baseUrl);
  const branch = code ? project.defaultBranch : null;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'localhost';
  return {
    ...projectIdentity(project),
    default_branch: branch,
    tag_list: [...project.topics],
    topics: [...project.topics],
    ssh_url_to_repo: `git@${host}:${project.fullPath}.git`,
    http_url_to_repo: cloneUrl(project, cloneRoot),
    web_url: url,
    readme_url: branch === null ? null : `${url}/-/blob/${branch}/README.md`,
    avatar_url: avatarUrl('project', project, baseUrl),
    forks_count: project.forksCount ?? 0,
    star_count: project.starsCount ?? 0,
    last_activity_at: project.lastActivityAt,
    namespace: namespaceOf(project, baseUrl, namespaceAvatar),
  };
}

function namespaceOf(project: ProjectRecord, baseUrl: string, avatar: string | null) {
  const { namespaceId: id, namespaceKind: kind, namespacePath, namespaceName, ancestorIds } = project;
  const group = kind === 'group';
  return {
    id,
    // The name of a nested group is `parent / child`; names of groups contain no slash.
    name: group ? namespaceName.split(' / ').at(-1)! : namespaceName,
    path: group ? namespacePath.split('/').at(-1)! : namespacePath,
    kind,
    full_path: namespacePath,
    parent_id: group ? (ancestorIds.at(-2) ?? null) : null,
    avatar_url: avatar,
    web_url: group ? `${baseUrl}/groups/${namespacePath}` : `${baseUrl}/${namespacePath}`,
  };
}

/** Features with an access level of their own. */
export const FEATURES_WITH_LEVELS = [
  'issues',
  'repository',
  'merge_requests',
  'forking',
  'wiki',
  'builds',
  'snippets',
  'pages',
  'operations',
  'analytics',
  'container_registry',
] as const;

/** Features that also have a deprecated boolean switch (`issues_enabled`). */
const SWITCHED = ['issues', 'merge_requests', 'wiki', 'builds', 'snippets'] as const;
/** The switch of `builds` has another name. */
const switchOf = (feature: (typeof SWITCHED)[number]) =>
  feature === 'builds' ? 'jobs_enabled' : `${feature}_enabled`;

/** The full record; `permissions` are the caller's own, `owner` is the user of a personal namespace. */
export function projectFull(
  access: ProjectAccess,
  roots: Roots,
  context: {
    owner?: UserRecord | undefined;
    /** The group that it is directly in. */
    group?: GroupRecord | undefined;
    code: boolean;
    /** The caller's access levels by membership of the project and of its ancestor groups; 0: none. */
    permissions?: Omit<ProjectMemberships, 'project' | 'group'> & {
      readonly project: number;
      readonly group: number;
    };
    administrator?: boolean;
    /** As the project says, or the group that it is in. */
    lfsEnabled: boolean;
    /** Issues that the caller may list; confidential ones only if they see all of them. */
    openIssues?: number;
  },
) {
  const { project, level } = access;
  const { baseUrl } = roots;
  const self = `${baseUrl}/api/v4/projects/${project.id}`;
  const { owner, group } = context;
  const namespaceAvatar =
    group !== undefined
      ? avatarUrl('group', group, baseUrl)
      : owner === undefined
        ? null
        : avatarUrl('user', owner, baseUrl);
  const marked = project.deletion ? markedOn(project.deletion) : null;
  const features = Object.fromEntries(
    SWITCHED.map((feature) => [
      switchOf(feature),
      setting<string>(project, `${feature}_access_level`, 'enabled') !== 'disabled',
    ]),
  );
  const levels = Object.fromEntries(
    FEATURES_WITH_LEVELS.map((feature) => [
      `${feature}_access_level`,
      setting(
        project,
        `${feature}_access_level`,
        feature === 'pages' && project.visibility !== 'public' ? 'private' : 'enabled',
      ),
    ]),
  );
  return {
    ...projectBasic(project, roots, context.code, namespaceAvatar),
    _links: {
      self,
      ...(features['issues_enabled'] ? { issues: `${self}/issues` } : {}),
      ...(features['merge_requests_enabled'] ? { merge_requests: `${self}/merge_requests` } : {}),
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
    },
    container_registry_image_prefix: null,
    packages_enabled: setting(project, 'packages_enabled', true),
    empty_repo: project.defaultBranch === null,
    archived: project.archived,
    visibility: project.visibility,
    ...(context.owner === undefined ? {} : { owner: userBasic(context.owner, baseUrl) }),
    resolve_outdated_diff_discussions: setting(project, 'resolve_outdated_diff_discussions', false),
    ...features,
    container_registry_enabled:
      setting<string>(project, 'container_registry_access_level', 'enabled') !== 'disabled',
    service_desk_enabled: setting(project, 'service_desk_enabled', false),
    service_desk_address: null,
    can_create_merge_request_in: level >= 30,
    ...levels,
    emails_disabled: setting(project, 'emails_disabled', false),
    shared_runners_enabled: setting(project, 'shared_runners_enabled', true),
    lfs_enabled: context.lfsEnabled,
    creator_id: project.creatorId,
    import_status: project.importStatus,
    ...(level >= 40 || context.administrator === true
      ? {
          import_error: project.importError,
          import_url: setting(project, 'import_url', project.importSource?.url ?? null),
          import_type: project.importSource?.type ?? null,
        }
      : {}),
    open_issues_count: context.openIssues ?? 0,
    ci_default_git_depth: setting(project, 'ci_default_git_depth', 50),
    ci_forward_deployment_enabled: setting(project, 'ci_forward_deployment_enabled', true),
    ci_job_token_scope_enabled: false,
    public_jobs: setting(project, 'public_builds', true),
    build_git_strategy: setting(project, 'build_git_strategy', 'fetch'),
    build_timeout: setting(project, 'build_timeout', DEFAULT_TIMEOUT),
    auto_cancel_pending_pipelines: setting(project, 'auto_cancel_pending_pipelines', 'enabled'),
    build_coverage_regex: setting(project, 'build_coverage_regex', null),
    ci_config_path: setting(project, 'ci_config_path', null),
    only_allow_merge_if_pipeline_succeeds: setting(project, 'only_allow_merge_if_pipeline_succeeds', false),
    allow_merge_on_skipped_pipeline: setting(project, 'allow_merge_on_skipped_pipeline', null),
    restrict_user_defined_variables: setting(project, 'restrict_user_defined_variables', false),
    request_access_enabled: setting(project, 'request_access_enabled', true),
    only_allow_merge_if_all_discussions_are_resolved: setting(
      project,
      'only_allow_merge_if_all_discussions_are_resolved',
      false,
    ),
    remove_source_branch_after_merge: setting(project, 'remove_source_branch_after_merge', true),
    printing_merge_request_link_enabled: setting(project, 'printing_merge_request_link_enabled', true),
    merge_method: setting(project, 'merge_method', 'merge'),
    squash_option: setting(project, 'squash_option', 'default_off'),
    suggestion_commit_message: setting(project, 'suggestion_commit_message', null),
    merge_commit_template: setting(project, 'merge_commit_template', null),
    squash_commit_template: setting(project, 'squash_commit_template', null),
    auto_devops_enabled: setting(project, 'auto_devops_enabled', false),
    auto_devops_deploy_strategy: setting(project, 'auto_devops_deploy_strategy', 'continuous'),
    autoclose_referenced_issues: setting(project, 'autoclose_referenced_issues', true),
    ...(context.administrator === true ? { repository_storage: storageOf(project.storagePrefix) } : {}),
    keep_latest_artifact: setting(project, 'keep_latest_artifact', true),
    approvals_before_merge: setting(project, 'approvals_before_merge', 0),
    mirror: setting(project, 'mirror', false),
    mirror_user_id: setting(project, 'mirror_user_id', null),
    mirror_trigger_builds: setting(project, 'mirror_trigger_builds', false),
    only_mirror_protected_branches: setting(project, 'only_mirror_protected_branches', false),
    mirror_overwrites_diverged_branches: setting(project, 'mirror_overwrites_diverged_branches', false),
    external_authorization_classification_label: setting(
      project,
      'external_authorization_classification_label',
      '',
    ),
    marked_for_deletion_at: marked,
    marked_for_deletion_on: marked,
    ...withoutDefault(project),
    ...(context.permissions === undefined
      ? {}
      : {
          permissions: {
            project_access: permission(context.permissions.project, context.permissions.mail.project),
            group_access: permission(context.permissions.group, context.permissions.mail.group),
          },
        }),
  };
}

const permission = (level: number, mail: NotificationLevel) =>
  level === 0 ? null : { access_level: level, notification_level: LEVEL_NUMBERS[mail] };

/** Status of an import; the error is shown to Maintainers only. */
export function importStatus({ project, level }: ProjectAccess, administrator: boolean) {
  return {
    ...projectIdentity(project),
    import_status: project.importStatus,
    import_type: project.importSource?.type ?? null,
    // The id of the import is a secret of its workers: it authorises their messages.
    correlation_id: null,
    failed_relations: [],
    import_error: level >= 40 || administrator ? project.importError : null,
    stats: null,
  };
}

/** Settings that are shown only after they were set. */
const SHOWN_WHEN_SET = [
  'issues_template',
  'merge_requests_template',
  'mr_default_target_self',
  'requirements_access_level',
  'show_default_award_emojis',
] as const;

function withoutDefault(project: ProjectRecord): Record<string, unknown> {
  const policy = project.settings['container_expiration_policy_attributes'];
  const set = SHOWN_WHEN_SET.filter((name) => name in project.settings);
  return {
    ...Object.fromEntries(set.map((name) => [name, project.settings[name]])),
    ...(policy === undefined ? {} : { container_expiration_policy: policy }),
  };
}

/** A group that a group or project is shared with. */
export const sharedWithGroup = ({ id, name, fullPath }: GroupRecord, share: ShareRecord) => ({
  group_id: id,
  group_name: name,
  group_full_path: fullPath,
  group_access_level: share.accessLevel,
  expires_at: share.expiresAt,
});
