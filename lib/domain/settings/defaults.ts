/**
 * The settings that take effect, as they are until somebody changes them. Whatever is not here is stored and shown
 * (`attributes/`) and read by no rule; a feature that comes takes its settings here.
 */

import type { Visibility } from '../../records/visibility.ts';
import type { StoreEnvironment } from '../../store/environment.ts';

const none = null as string | null;
const noNumber = null as number | null;
const noTexts: readonly string[] = [];
const MB = 1024 ** 2;
const DELETION_DAYS = 7;

/** Where an attribute counts something, its name or the comment says in which unit. */
const fixed = {
  default_project_visibility: 'private' as Visibility,
  default_group_visibility: 'private' as Visibility,
  restricted_visibility_levels: [] as readonly Visibility[],
  default_projects_limit: 100_000,
  /** Whether only administrators delete projects */
  default_project_deletion_protection: false,
  /** 0: no one, 1: maintainers, 2: developers and maintainers */
  default_project_creation: 2 as 0 | 1 | 2,
  /** Of new projects */
  shared_runners_enabled: true,
  default_ci_config_path: none,
  /** 0: not protected ... 3: nobody may push before there is one */
  default_branch_protection: 2 as 0 | 1 | 2 | 3,

  domain_allowlist: noTexts,
  domain_denylist_enabled: false,
  domain_denylist: noTexts,
  email_restrictions_enabled: false,
  email_restrictions: none,
  user_default_external: false,
  user_default_internal_regex: none,
  minimum_password_length: 8,
  /** Addresses that one comes from, each seen in so many seconds */
  unique_ips_limit_enabled: false,
  unique_ips_limit_per_user: 10,
  unique_ips_limit_time_window: 3600,
  personal_access_token_prefix: 'glpat-' as string | null,
  /** Whether somebody's own tokens end with their day */
  enforce_pat_expiration: true,
  /** Days; null: for ever */
  max_personal_access_token_lifetime: noNumber,
  /** Days; null: for ever */
  max_ssh_key_lifetime: noNumber,
  /** Bits at least; 0: any, -1: none of the kind */
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

  /** MB; null: what Git's limits allow */
  receive_max_input_size: noNumber,
  /** MB; 0: any */
  repository_size_limit: 0,
  enabled_git_access_protocol: none as 'ssh' | 'http' | null,
  /** Instead of the instance's own address */
  custom_http_clone_url_root: none,
  /** Where whoever opens the instance's own page is sent */
  home_page_url: none,
  /** Of a diff that is shown: of one file, of all of them */
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

  /** Requests a minute; 0: any number */
  notes_create_limit: 300,
  notes_create_limit_allowlist: noTexts,
  raw_blob_request_limit: 300,
  /** In ten minutes */
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

/** Settings that have no default without the instance's own configuration. */
const configured = (environment: StoreEnvironment) => ({
  default_branch_name: environment.defaultBranchName as string | null,
  /** Whether projects in groups, and groups, wait before they are deleted */
  delayed_project_deletion: environment.deletionDelayDays > 0,
  delayed_group_deletion: environment.deletionDelayDays > 0,
  /** Days that they wait */
  deletion_adjourned_period: environment.deletionDelayDays || DELETION_DAYS,
  /** MB; 0: as much as the instance can hold */
  max_import_size: Math.floor(environment.importMaxBytes / MB),
});

/** The settings that rules obey, by the names that the interface gives them. */
export type InstanceSettings = Readonly<typeof fixed & ReturnType<typeof configured>>;

export const defaultSettings = (environment: StoreEnvironment): InstanceSettings => ({
  ...fixed,
  ...configured(environment),
});
