import * as p from '../../http/params.ts';
import { MAX_APPROVALS } from '../../records/approvals.ts';

/** Characters. Keeps all settings together well below the 400 KB limit of a DynamoDB item. */
const MAX_TEMPLATE_LENGTH = 20_000;

/** Characters of a template that commit messages are made from, as in the product. */
const MAX_COMMIT_TEMPLATE_LENGTH = 500;

const LEVELS = ['disabled', 'private', 'enabled'] as const;
const level = (feature: string) => p.oneOf(LEVELS, { description: `Access level of ${feature}` });
const levelOrPublic = (feature: string) =>
  p.oneOf([...LEVELS, 'public'], { description: `Access level of ${feature}` });

/**
 * Settings that are validated, stored and returned. Most take effect only once their feature exists (docs/not-yet.md).
 * Creation and update have them in common.
 */
export const settingFields = () => ({
  allow_merge_on_skipped_pipeline: p.boolean({
    nullable: true,
    description: 'Allow merging when the pipeline was skipped',
  }),
  analytics_access_level: level('analytics'),
  approvals_before_merge: p.integer({
    min: 0,
    max: MAX_APPROVALS,
    description: 'Number of approvals required before a merge request can be merged',
  }),
  auto_cancel_pending_pipelines: p.oneOf(['enabled', 'disabled'], {
    description: 'Cancel pending pipelines when a newer commit is pushed',
  }),
  auto_devops_deploy_strategy: p.oneOf(['continuous', 'manual', 'timed_incremental'], {
    description: 'Deployment strategy of Auto DevOps',
  }),
  auto_devops_enabled: p.boolean({ description: 'Enable Auto DevOps' }),
  autoclose_referenced_issues: p.boolean({
    description: 'Close referenced issues automatically on the default branch',
  }),
  build_coverage_regex: p.string({
    nullable: true,
    maxLength: 255,
    description: 'Regular expression that finds the test coverage in job output',
  }),
  build_git_strategy: p.oneOf(['fetch', 'clone'], { description: 'Git strategy of CI jobs' }),
  build_timeout: p.integer({ min: 600, description: 'Maximum duration of a job, in seconds' }),
  builds_access_level: level('pipelines'),
  ci_config_path: p.string({
    nullable: true,
    maxLength: 255,
    description: 'Path of the CI configuration file',
  }),
  ci_default_git_depth: p.integer({
    nullable: true,
    min: 0,
    max: 1000,
    description: 'Default number of revisions of a shallow clone in CI jobs; 0: all',
  }),
  ci_forward_deployment_enabled: p.boolean({ description: 'Prevent outdated deployment jobs from running' }),
  container_expiration_policy_attributes: p.object(
    {
      cadence: p.string({ maxLength: 255, description: 'How often the policy runs' }),
      keep_n: p.integer({ nullable: true, description: 'Number of tags to keep' }),
      older_than: p.string({
        nullable: true,
        maxLength: 255,
        description: 'Minimum age of the tags to delete',
      }),
      name_regex: p.string({
        nullable: true,
        maxLength: 255,
        description: 'Deprecated: use `name_regex_delete`',
      }),
      name_regex_delete: p.string({
        nullable: true,
        maxLength: 255,
        description: 'Regular expression for the names of tags to delete',
      }),
      name_regex_keep: p.string({
        nullable: true,
        maxLength: 255,
        description: 'Regular expression for the names of tags to keep',
      }),
      enabled: p.boolean({ description: 'Whether the policy is active' }),
    },
    { description: 'Cleanup policy of the container registry' },
  ),
  container_registry_access_level: level('the container registry'),
  emails_disabled: p.boolean({ description: 'Disable email notifications of the project' }),
  external_authorization_classification_label: p.string({
    maxLength: 255,
    description: 'Classification label for external authorization',
  }),
  forking_access_level: level('forking'),
  issues_access_level: level('issues'),
  issues_template: p.string({
    maxLength: MAX_TEMPLATE_LENGTH,
    description: 'Default description of new issues, in Markdown',
  }),
  keep_latest_artifact: p.boolean({ description: 'Keep the latest artifact of each ref' }),
  lfs_enabled: p.boolean({ description: 'Enable Git LFS' }),
  merge_method: p.oneOf(['merge', 'rebase_merge', 'ff'], { description: 'Merge method of merge requests' }),
  merge_requests_access_level: level('merge requests'),
  merge_requests_template: p.string({
    maxLength: MAX_TEMPLATE_LENGTH,
    description: 'Default description of new merge requests, in Markdown',
  }),
  mirror: p.boolean({ description: 'Enable pull mirroring' }),
  mirror_overwrites_diverged_branches: p.boolean({
    description: 'Overwrite diverged branches when mirroring',
  }),
  mirror_trigger_builds: p.boolean({ description: 'Run pipelines for mirror updates' }),
  mirror_user_id: p.integer({
    description: 'Id of the user that mirror activity is attributed to; administrators only',
  }),
  only_allow_merge_if_all_discussions_are_resolved: p.boolean({
    description: 'Allow merging only when all discussions are resolved',
  }),
  only_allow_merge_if_pipeline_succeeds: p.boolean({
    description: 'Allow merging only when the pipeline succeeded',
  }),
  only_mirror_protected_branches: p.boolean({ description: 'Mirror only protected branches' }),
  operations_access_level: level('operations'),
  packages_enabled: p.boolean({ description: 'Enable the package registry' }),
  pages_access_level: levelOrPublic('Pages'),
  printing_merge_request_link_enabled: p.boolean({
    description: 'Print a link to create a merge request after a push',
  }),
  public_builds: p.boolean({
    description: 'Show jobs to everyone who can see the project, not only to members',
  }),
  remove_source_branch_after_merge: p.boolean({
    description: 'Delete the source branch after a merge by default',
  }),
  repository_access_level: level('the repository'),
  repository_storage: p.string({
    maxLength: 255,
    description: 'Name of the repository storage; another one schedules a move there; administrators only',
  }),
  request_access_enabled: p.boolean({ description: 'Allow users to request access to the project' }),
  requirements_access_level: levelOrPublic('requirements management'),
  resolve_outdated_diff_discussions: p.boolean({
    description: 'Resolve discussions on lines that a push changed',
  }),
  restrict_user_defined_variables: p.boolean({
    description: 'Allow only Maintainers to pass variables to a pipeline',
  }),
  service_desk_enabled: p.boolean({ description: 'Enable Service Desk' }),
  shared_runners_enabled: p.boolean({ description: 'Enable shared runners' }),
  show_default_award_emojis: p.boolean({ description: 'Show the default award emoji' }),
  snippets_access_level: level('snippets'),
  squash_option: p.oneOf(['never', 'always', 'default_on', 'default_off'], {
    description: 'Whether merge requests are squashed',
  }),
  merge_commit_template: p.string({
    nullable: true,
    maxLength: MAX_COMMIT_TEMPLATE_LENGTH,
    description: 'Template of the messages of merge commits, with variables such as `%{title}`',
  }),
  mr_default_target_self: p.boolean({
    description: 'Propose what is pushed to a fork to the fork itself, and not to its source',
  }),
  squash_commit_template: p.string({
    nullable: true,
    maxLength: MAX_COMMIT_TEMPLATE_LENGTH,
    description: 'Template of the messages of squashed commits, with variables such as `%{title}`',
  }),
  suggestion_commit_message: p.string({
    nullable: true,
    maxLength: 255,
    description: 'Commit message template for applied suggestions',
  }),
  wiki_access_level: level('the wiki'),
});

/** Deprecated switches, each with the access level that replaced it. */
const SWITCHES = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  jobs_enabled: 'builds_access_level',
  wiki_enabled: 'wiki_access_level',
  snippets_enabled: 'snippets_access_level',
  container_registry_enabled: 'container_registry_access_level',
} as const;

export const switchFields = () => {
  const deprecated = (name: string) => p.boolean({ description: `Deprecated: use \`${name}\`` });
  return {
    issues_enabled: deprecated(SWITCHES.issues_enabled),
    merge_requests_enabled: deprecated(SWITCHES.merge_requests_enabled),
    jobs_enabled: deprecated(SWITCHES.jobs_enabled),
    wiki_enabled: deprecated(SWITCHES.wiki_enabled),
    snippets_enabled: deprecated(SWITCHES.snippets_enabled),
    container_registry_enabled: deprecated(SWITCHES.container_registry_enabled),
  };
};

const NAMES = new Set(Object.keys(settingFields()));

/** The given settings as they are stored: switches become access levels; an access level wins over its switch. */
export function settingsOf(body: object): Record<string, unknown> {
  const input: Readonly<Record<string, unknown>> = { ...body };
  const settings: Record<string, unknown> = {};
  for (const [name, levelName] of Object.entries(SWITCHES)) {
    if (typeof input[name] === 'boolean') settings[levelName] = input[name] ? 'enabled' : 'disabled';
  }
  for (const [name, value] of Object.entries(input)) if (NAMES.has(name)) settings[name] = value;
  // Where a repository lies is no setting.
  delete settings['repository_storage'];
  return settings;
}
