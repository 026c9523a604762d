/** How much and how often: sizes, requests, calls to other servers. */
import { parseAllowList } from '../../../outbound/allow-list.ts';
import { type Attribute, bool, float, int, line, list, obeyed, secret, text, url } from '../kinds.ts';

const THROTTLES = [
  'unauthenticated',
  'unauthenticated_api',
  'authenticated_api',
  'authenticated_web',
  'unauthenticated_packages_api',
  'authenticated_packages_api',
  'unauthenticated_files_api',
  'authenticated_files_api',
  'unauthenticated_deprecated_api',
  'authenticated_deprecated_api',
  'authenticated_git_lfs',
  'protected_paths',
] as const;

const throttles = Object.fromEntries(
  THROTTLES.flatMap((name): [string, Attribute][] => [
    [`throttle_${name}_enabled`, bool()],
    [`throttle_${name}_requests_per_period`, int({ above: 0 })],
    [`throttle_${name}_period_in_seconds`, int({ above: 0 })],
  ]),
);

/** An entry that cannot be read would stop every call to another server. */
function destinationProblem(entry: string): string | undefined {
  try {
    parseAllowList(entry);
    return undefined;
  } catch {
    return `'${entry}' is no name, address or range of addresses`;
  }
}

export const limitAttributes: Readonly<Record<string, Attribute>> = {
  ...throttles,
  throttle_incident_management_notification_enabled: bool(false),
  throttle_incident_management_notification_per_period: int({ default: 3600, above: 0 }),
  throttle_incident_management_notification_period_in_seconds: int({ default: 3600, above: 0 }),
  protected_paths: list({ max: 100 }),
  rate_limiting_response_text: obeyed(text({ max: 1000 })),
  issues_create_limit: int({ default: 300 }),
  notes_create_limit: int(),
  notes_create_limit_allowlist: list({ max: 100 }),
  raw_blob_request_limit: int(),
  users_get_by_id_limit: int(),
  users_get_by_id_limit_allowlist: list({ max: 100 }),
  search_rate_limit: int(),
  search_rate_limit_unauthenticated: int({ default: 10 }),
  project_import_limit: int(),
  project_export_limit: int({ default: 6 }),
  project_download_export_limit: int({ default: 1 }),
  group_import_limit: int({ default: 6 }),
  group_export_limit: int({ default: 6 }),
  group_download_export_limit: int({ default: 1 }),
  push_event_activities_limit: int(),
  push_event_hooks_limit: int({ default: 3 }),

  max_attachment_size: int({ default: 10, above: 0 }),
  max_artifacts_size: int({ default: 100, above: 0 }),
  max_import_size: int(),
  max_pages_size: int({ default: 100, max: 1_048_575 }),
  receive_max_input_size: int({ nullable: true, above: 0 }),
  snippet_size_limit: int({ default: 52_428_800, above: 0 }),
  wiki_page_max_content_bytes: int({ default: 52_428_800, min: 1024 }),
  metrics_method_call_threshold: int({ default: 10 }),
  container_registry_token_expire_delay: int({ default: 5, above: 0 }),
  container_registry_delete_tags_service_timeout: int({ default: 250 }),
  container_registry_expiration_policies_worker_capacity: int({ default: 0 }),
  container_registry_cleanup_tags_service_max_list_size: int({ default: 200 }),
  packages_cleanup_package_file_worker_capacity: int({ default: 2 }),

  allow_local_requests_from_web_hooks_and_services: bool(),
  allow_local_requests_from_system_hooks: bool(true),
  dns_rebinding_protection_enabled: bool(true),
  outbound_local_requests_whitelist: list({ check: destinationProblem }),
  asset_proxy_enabled: bool(false),
  asset_proxy_url: url(),
  asset_proxy_secret_key: secret(),
  asset_proxy_allowlist: list({ default: [] }),
  static_objects_external_storage_url: url(),
  static_objects_external_storage_auth_token: secret(),
  external_authorization_service_timeout: float({ default: null, nullable: true, above: 0, max: 10 }),
  external_pipeline_validation_service_url: url(),
  external_pipeline_validation_service_timeout: int({ default: null, nullable: true, above: 0 }),
  external_pipeline_validation_service_token: secret(),
  secret_detection_token_revocation_enabled: bool(false),
  secret_detection_token_revocation_url: line(),
  secret_detection_token_revocation_token: secret(),
};
