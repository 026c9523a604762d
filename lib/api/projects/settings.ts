import { invalid } from '../../domain/errors.ts';
import * as p from '../../http/params.ts';

/** Characters. All settings together stay well below the 400 KB that an item of the table may have. */
const MAX_TEMPLATE = 20_000;

const LEVELS = ['disabled', 'private', 'enabled'] as const;
const level = () => p.oneOf(LEVELS);
const levelOrPublic = () => p.oneOf([...LEVELS, 'public']);

/**
 * Settings that are validated, stored and returned; what each is for comes with its feature. Shared by creation
 * and update.
 */
export const settingFields = () => ({
  allow_merge_on_skipped_pipeline: p.boolean({ nullable: true }),
  analytics_access_level: level(),
  approvals_before_merge: p.integer({ min: 0 }),
  auto_cancel_pending_pipelines: p.oneOf(['enabled', 'disabled']),
  auto_devops_deploy_strategy: p.oneOf(['continuous', 'manual', 'timed_incremental']),
  auto_devops_enabled: p.boolean(),
  autoclose_referenced_issues: p.boolean(),
  build_coverage_regex: p.string({ nullable: true, maxLength: 255 }),
  build_git_strategy: p.oneOf(['fetch', 'clone']),
  build_timeout: p.integer({ min: 600, description: 'Seconds' }),
  builds_access_level: level(),
  ci_config_path: p.string({ nullable: true, maxLength: 255 }),
  ci_default_git_depth: p.integer({ nullable: true, min: 0, max: 1000 }),
  ci_forward_deployment_enabled: p.boolean(),
  container_expiration_policy_attributes: p.object({
    cadence: p.string({ maxLength: 255 }),
    keep_n: p.integer({ nullable: true }),
    older_than: p.string({ nullable: true, maxLength: 255 }),
    name_regex: p.string({ nullable: true, maxLength: 255 }),
    name_regex_delete: p.string({ nullable: true, maxLength: 255 }),
    name_regex_keep: p.string({ nullable: true, maxLength: 255 }),
    enabled: p.boolean(),
  }),
  container_registry_access_level: level(),
  emails_disabled: p.boolean(),
  external_authorization_classification_label: p.string({ maxLength: 255 }),
  forking_access_level: level(),
  issues_access_level: level(),
  issues_template: p.string({ maxLength: MAX_TEMPLATE }),
  keep_latest_artifact: p.boolean(),
  lfs_enabled: p.boolean(),
  merge_method: p.oneOf(['merge', 'rebase_merge', 'ff']),
  merge_requests_access_level: level(),
  merge_requests_template: p.string({ maxLength: MAX_TEMPLATE }),
  mirror: p.boolean(),
  mirror_overwrites_diverged_branches: p.boolean(),
  mirror_trigger_builds: p.boolean(),
  mirror_user_id: p.integer(),
  only_allow_merge_if_all_discussions_are_resolved: p.boolean(),
  only_allow_merge_if_pipeline_succeeds: p.boolean(),
  only_mirror_protected_branches: p.boolean(),
  operations_access_level: level(),
  packages_enabled: p.boolean(),
  pages_access_level: levelOrPublic(),
  printing_merge_request_link_enabled: p.boolean(),
  public_builds: p.boolean(),
  remove_source_branch_after_merge: p.boolean(),
  repository_access_level: level(),
  repository_storage: p.string({ maxLength: 255 }),
  request_access_enabled: p.boolean(),
  requirements_access_level: levelOrPublic(),
  resolve_outdated_diff_discussions: p.boolean(),
  restrict_user_defined_variables: p.boolean(),
  service_desk_enabled: p.boolean(),
  shared_runners_enabled: p.boolean(),
  show_default_award_emojis: p.boolean(),
  snippets_access_level: level(),
  squash_option: p.oneOf(['never', 'always', 'default_on', 'default_off']),
  suggestion_commit_message: p.string({ nullable: true, maxLength: 255 }),
  wiki_access_level: level(),
});

/** The old switches, each for a level of today. */
const SWITCHES = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  jobs_enabled: 'builds_access_level',
  wiki_enabled: 'wiki_access_level',
  snippets_enabled: 'snippets_access_level',
  container_registry_enabled: 'container_registry_access_level',
} as const;

export const switchFields = () => {
  const old = (name: string) => p.boolean({ description: `Deprecated: use \`${name}\`` });
  return {
    issues_enabled: old(SWITCHES.issues_enabled),
    merge_requests_enabled: old(SWITCHES.merge_requests_enabled),
    jobs_enabled: old(SWITCHES.jobs_enabled),
    wiki_enabled: old(SWITCHES.wiki_enabled),
    snippets_enabled: old(SWITCHES.snippets_enabled),
    container_registry_enabled: old(SWITCHES.container_registry_enabled),
  };
};

const NAMES = new Set(Object.keys(settingFields()));

/** What is stored: the settings that were given, old switches as levels; a level that is given too wins. */
export function settingsOf(body: object): Record<string, unknown> {
  const given: Readonly<Record<string, unknown>> = { ...body };
  const settings: Record<string, unknown> = {};
  for (const [name, levelName] of Object.entries(SWITCHES)) {
    if (typeof given[name] === 'boolean') settings[levelName] = given[name] ? 'enabled' : 'disabled';
  }
  for (const [name, value] of Object.entries(given)) if (NAMES.has(name)) settings[name] = value;
  return settings;
}

export const STORAGE = 'default';

/** There is one place that repositories lie in. @throws 400 for any other */
export function demandStorage(name: string | undefined): void {
  if (name !== undefined && name !== STORAGE)
    throw invalid({ repository_storage: ['is not included in the list'] });
}
