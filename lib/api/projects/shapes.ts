import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { customAttributesShown } from '../custom-attributes/shapes.ts';
import { day, time, userBasic } from '../users/shapes.ts';
import { identityFields } from './identity-shapes.ts';
import { FEATURES_WITH_LEVELS } from './present.ts';

export const namespace = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string(),
      path: z.string(),
      kind: z.enum(['user', 'group']),
      full_path: z.string(),
      parent_id: z.int().nullable(),
      avatar_url: z.string().nullable(),
      web_url: z.string(),
    })
    .meta({ id: 'NamespaceBasic' }),
);

const basicFields = () => ({
  ...identityFields(),
  default_branch: z
    .string()
    .nullable()
    .describe('Name of the default branch; null while the repository is empty'),
  tag_list: z.array(z.string()).describe('Deprecated: use `topics`'),
  topics: z.array(z.string()),
  ssh_url_to_repo: z.string(),
  http_url_to_repo: z.string(),
  web_url: z.string(),
  readme_url: z.string().nullable(),
  avatar_url: z.string().nullable(),
  forks_count: z.int(),
  star_count: z.int(),
  last_activity_at: time(),
  namespace: namespace(),
  custom_attributes: customAttributesShown(),
});

const level = () => z.enum(['disabled', 'private', 'enabled', 'public']);
const accessLevels = () =>
  Object.fromEntries(FEATURES_WITH_LEVELS.map((feature) => [`${feature}_access_level`, level()]));
const switches = () =>
  Object.fromEntries(
    ['issues', 'merge_requests', 'wiki', 'jobs', 'snippets', 'container_registry'].map((feature) => [
      `${feature}_enabled`,
      z.boolean().describe('Deprecated: use the access level of the feature'),
    ]),
  );
const given = <T extends z.ZodType>(type: T) => type.optional().describe('Present only if it was set');
const permission = () => z.object({ access_level: z.int(), notification_level: z.int() }).nullable();

/** Sizes in bytes. */
export const storageSizes = () => ({
  storage_size: z.int(),
  repository_size: z.int(),
  wiki_size: z.int(),
  lfs_objects_size: z.int(),
  job_artifacts_size: z.int(),
  packages_size: z.int(),
  snippets_size: z.int(),
});

/** A group that a project or group is shared with. */
export const sharedWithGroup = shape(() =>
  z
    .object({
      group_id: z.int(),
      group_name: z.string(),
      group_full_path: z.string(),
      group_access_level: z.int(),
      expires_at: day().nullable(),
    })
    .meta({ id: 'SharedWithGroup' }),
);

export const projectBasic = shape(() => z.object(basicFields()).meta({ id: 'ProjectBasic' }));

export const project = shape(() =>
  z
    .object({
      ...basicFields(),
      forked_from_project: projectBasic().optional().describe('Source of a fork; present if you can see it'),
      _links: z.object({
        self: z.string(),
        issues: z.string().optional().describe('Absent when the feature is disabled'),
        merge_requests: z.string().optional().describe('Absent when the feature is disabled'),
        repo_branches: z.string(),
        labels: z.string(),
        events: z.string(),
        members: z.string(),
      }),
      container_registry_image_prefix: z.string().nullable(),
      packages_enabled: z.boolean(),
      empty_repo: z.boolean(),
      archived: z.boolean(),
      visibility: z.enum(['private', 'internal', 'public']),
      owner: userBasic().optional().describe('Present for a project in a personal namespace'),
      resolve_outdated_diff_discussions: z.boolean(),
      ...switches(),
      service_desk_enabled: z.boolean(),
      service_desk_address: z.string().nullable(),
      can_create_merge_request_in: z.boolean(),
      ...accessLevels(),
      emails_disabled: z.boolean(),
      shared_runners_enabled: z.boolean(),
      lfs_enabled: z.boolean(),
      creator_id: z.int(),
      import_status: z.enum(['none', 'scheduled', 'started', 'finished', 'failed']),
      import_error: z.string().nullable().optional().describe('Shown to Maintainers only'),
      import_url: z
        .string()
        .nullable()
        .optional()
        .describe('URL without credentials, shown to Maintainers only'),
      import_type: z.string().nullable().optional().describe('Shown to Maintainers only'),
      open_issues_count: z.int(),
      ci_default_git_depth: z.int().nullable(),
      ci_forward_deployment_enabled: z.boolean(),
      ci_job_token_scope_enabled: z.boolean(),
      public_jobs: z.boolean(),
      build_git_strategy: z.enum(['fetch', 'clone']),
      build_timeout: z.int(),
      auto_cancel_pending_pipelines: z.enum(['enabled', 'disabled']),
      build_coverage_regex: z.string().nullable(),
      ci_config_path: z.string().nullable(),
      shared_with_groups: z.array(sharedWithGroup()),
      only_allow_merge_if_pipeline_succeeds: z.boolean(),
      allow_merge_on_skipped_pipeline: z.boolean().nullable(),
      restrict_user_defined_variables: z.boolean(),
      request_access_enabled: z.boolean(),
      only_allow_merge_if_all_discussions_are_resolved: z.boolean(),
      remove_source_branch_after_merge: z.boolean(),
      printing_merge_request_link_enabled: z.boolean(),
      merge_method: z.enum(['merge', 'rebase_merge', 'ff']),
      squash_option: z.enum(['never', 'always', 'default_on', 'default_off']),
      suggestion_commit_message: z.string().nullable(),
      merge_commit_template: z.string().nullable(),
      squash_commit_template: z.string().nullable(),
      auto_devops_enabled: z.boolean(),
      auto_devops_deploy_strategy: z.enum(['continuous', 'manual', 'timed_incremental']),
      autoclose_referenced_issues: z.boolean(),
      repository_storage: z.string().optional().describe('Shown to administrators only'),
      keep_latest_artifact: z.boolean(),
      marked_for_deletion_at: z.string().nullable().describe('Deprecated: use `marked_for_deletion_on`'),
      marked_for_deletion_on: z
        .string()
        .nullable()
        .describe('Date on which the project was scheduled for deletion (`YYYY-MM-DD`)'),
      container_expiration_policy: given(z.record(z.string(), z.unknown())),
      approvals_before_merge: z.int(),
      external_authorization_classification_label: z.string(),
      issues_template: given(z.string()),
      merge_requests_template: given(z.string()),
      mr_default_target_self: given(z.boolean()),
      mirror: z.boolean(),
      mirror_overwrites_diverged_branches: z.boolean(),
      mirror_trigger_builds: z.boolean(),
      mirror_user_id: z.int().nullable(),
      only_mirror_protected_branches: z.boolean(),
      requirements_access_level: given(level()),
      show_default_award_emojis: given(z.boolean()),
      license_url: z
        .string()
        .nullable()
        .optional()
        .describe('URL of the licence file; present if requested with `license`'),
      license: z
        .object({
          key: z.string(),
          name: z.string(),
          nickname: z.string().nullable(),
          html_url: z.string().nullable(),
          source_url: z.string().nullable(),
        })
        .nullable()
        .optional()
        .describe('Present if requested with `license`'),
      runners_token: z
        .string()
        .optional()
        .describe('Registration token of runners; of a single project, for Maintainers'),
      statistics: z
        .object({ commit_count: z.int(), ...storageSizes() })
        .optional()
        .describe('Present if requested with `statistics`; shown to Reporters and above'),
      permissions: z
        .object({ project_access: permission(), group_access: permission() })
        .optional()
        .describe("The caller's own permissions"),
    })
    .meta({ id: 'Project' }),
);

export const importStatus = shape(() =>
  z
    .object({
      ...identityFields(),
      import_status: z.enum(['none', 'scheduled', 'started', 'finished', 'failed']),
      import_type: z.string().nullable(),
      correlation_id: z.null(),
      failed_relations: z.array(z.unknown()),
      import_error: z.string().nullable().describe('Shown to Maintainers only'),
      stats: z.null(),
    })
    .meta({ id: 'ImportStatus' }),
);

export const nothing = shape(() => z.null());

/** The full form, or the basic one for anonymous callers and requests with `simple`. */
export const projectShown = shape(() => z.union([project(), projectBasic()]));
export const projectsListed = shape(() => z.array(projectShown()));
