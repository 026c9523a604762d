/**
 * Defaults of the settings that have an effect. All others are stored and shown (`attributes/`), but no rule reads them; a
 * new feature moves its settings here.
 */

import type { Visibility } from '../../records/visibility.ts';
import type { StoreEnvironment } from '../../store/environment.ts';

const none = null as string | null;
const noNumber = null as number | null;
const noTexts: readonly string[] = [];
const MB = 1024 ** 2;
const DELETION_DAYS = 7;

/** The name of a setting or its comment gives the unit. */
const fixed = {
  default_project_visibility: 'private' as Visibility,
  default_group_visibility: 'private' as Visibility,
  restricted_visibility_levels: [] as readonly Visibility[],
  default_projects_limit: 100_000,
  /** Whether only administrators can delete projects */
  default_project_deletion_protection: false,
  /** 0: no one, 1: maintainers, 2: developers and maintainers */
  default_project_creation: 2 as 0 | 1 | 2,
  /** Default of new projects */
  shared_runners_enabled: true,
  default_ci_config_path: none,
  /** See `DefaultBranchProtection` */
  default_branch_protection: 2 as 0 | 1 | 2 | 3,

  domain_allowlist: noTexts,
  domain_denylist_enabled: false,
  domain_denylist: noTexts,
  email_restrictions_enabled: false,
  email_restrictions: none,
  user_default_external: false,
  user_default_internal_regex: none,
  minimum_password_length: 8,
  /** IP addresses per user; an address counts for the time window, in seconds */
  unique_ips_limit_enabled: false,
  unique_ips_limit_per_user: 10,
  unique_ips_limit_time_window: 3600,
  personal_access_token_prefix: 'glpat-' as string | null,
  /** Whether personal access tokens stop working at their expiry date */
  enforce_pat_expiration: true,
  /** Days; null: unlimited */
  max_personal_access_token_lifetime: noNumber,
  /** Days; null: unlimited */
  max_ssh_key_lifetime: noNumber,
  /** Minimum size in bits; 0: any, -1: none of this kind */
  rsa_key_restriction: 0,
  dsa_key_restriction: 0,
  ecdsa_key_restriction: 0,
  ed25519_key_restriction: 0,
  deactivate_dormant_users: false,
  /** Days without any activity */
  deactivate_dormant_users_period: 90,
  user_deactivation_emails_enabled: true,
  html_emails_enabled: true,
  email_author_in_body: false,

  /** MB; null: `MAX_PUSH_BYTES` */
  receive_max_input_size: noNumber,
  /** MB; 0: unlimited */
  repository_size_limit: 0,
  enabled_git_access_protocol: none as 'ssh' | 'http' | null,
  /** Replaces the base URL of the instance in HTTP clone URLs */
  custom_http_clone_url_root: none,
  /** URL that the home page redirects to */
  home_page_url: none,
  /** Limits of diffs: bytes of one file; files and lines in total */
  diff_max_patch_bytes: 204_800,
  diff_max_files: 1000,
  diff_max_lines: 50_000,
  maintenance_mode: false,
  maintenance_mode_message: none,
  import_sources: [
    'github',
    'bitbucket',
    'bitbucket_server',
    'gitlab',
    'fogbugz',
    'git',
    'gitlab_project',
    'gitea',
    'manifest',
    'phabricator',
  ] as readonly string[],
  allow_local_requests_from_web_hooks_and_services: false,
  outbound_local_requests_whitelist: noTexts,

  push_event_activities_limit: 3,
  email_additional_text: none,

  /** Requests per minute; 0: unlimited */
  notes_create_limit: 300,
  notes_create_limit_allowlist: noTexts,
  raw_blob_request_limit: 300,
  /** Requests per 10 minutes */
  users_get_by_id_limit: 300,
  users_get_by_id_limit_allowlist: noTexts,
  search_rate_limit: 30,
  project_import_limit: 6,
  rate_limiting_response_text: none,
  throttle_unauthenticated_enabled: false,
  throttle_unauthenticated_requests_per_period: 3600,
  throttle_unauthenticated_period_in_seconds: 3600,
  throttle_unauthenticated_api_enabled: false,
  throttle_unauthenticated_api_requests_per_period: 3600,
  throttle_unauthenticated_api_period_in_seconds: 3600,
  throttle_authenticated_api_enabled: false,
  throttle_authenticated_api_requests_per_period: 7200,
  throttle_authenticated_api_period_in_seconds: 3600,
  throttle_authenticated_web_enabled: false,
  throttle_authenticated_web_requests_per_period: 7200,
  throttle_authenticated_web_period_in_seconds: 3600,
  throttle_unauthenticated_packages_api_enabled: false,
  throttle_unauthenticated_packages_api_requests_per_period: 800,
  throttle_unauthenticated_packages_api_period_in_seconds: 15,
  throttle_authenticated_packages_api_enabled: false,
  throttle_authenticated_packages_api_requests_per_period: 1000,
  throttle_authenticated_packages_api_period_in_seconds: 15,
  throttle_unauthenticated_files_api_enabled: false,
  throttle_unauthenticated_files_api_requests_per_period: 125,
  throttle_unauthenticated_files_api_period_in_seconds: 15,
  throttle_authenticated_files_api_enabled: false,
  throttle_authenticated_files_api_requests_per_period: 500,
  throttle_authenticated_files_api_period_in_seconds: 15,
  throttle_unauthenticated_deprecated_api_enabled: false,
  throttle_unauthenticated_deprecated_api_requests_per_period: 1800,
  throttle_unauthenticated_deprecated_api_period_in_seconds: 3600,
  throttle_authenticated_deprecated_api_enabled: false,
  throttle_authenticated_deprecated_api_requests_per_period: 3600,
  throttle_authenticated_deprecated_api_period_in_seconds: 3600,
  throttle_authenticated_git_lfs_enabled: false,
  throttle_authenticated_git_lfs_requests_per_period: 1000,
  throttle_authenticated_git_lfs_period_in_seconds: 60,
  throttle_protected_paths_enabled: false,
  throttle_protected_paths_requests_per_period: 10,
  throttle_protected_paths_period_in_seconds: 60,
  protected_paths: [
    '/users/password',
    '/users/sign_in',
    '/api/v4/session.json',
    '/api/v4/session',
    '/users',
    '/users/confirmation',
    '/unsubscribes/',
  ] as readonly string[],
};

/** Settings whose defaults come from the environment. */
const configured = (environment: StoreEnvironment) => ({
  default_branch_name: environment.defaultBranchName as string | null,
  /** Whether the deletion of groups, and of projects in groups, is delayed */
  delayed_project_deletion: environment.deletionDelayDays > 0,
  delayed_group_deletion: environment.deletionDelayDays > 0,
  /** Days of the delay */
  deletion_adjourned_period: environment.deletionDelayDays || DELETION_DAYS,
  /** MB; 0: the limit of the environment */
  max_import_size: Math.floor(environment.importMaxBytes / MB),
});

/** The settings that have an effect, by the names of the REST API. */
export type InstanceSettings = Readonly<typeof fixed & ReturnType<typeof configured>>;

export const defaultSettings = (environment: StoreEnvironment): InstanceSettings => ({
  ...fixed,
  ...configured(environment),
});
