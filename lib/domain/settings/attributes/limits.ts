/** Rate limits, size limits, and requests to other servers. */
import { parseAllowList } from '../../../outbound/allow-list.ts';
import {
  bool,
  type DescribedAttribute,
  described,
  float,
  int,
  line,
  list,
  obeyed,
  secret,
  text,
  url,
} from '../kinds.ts';

/** Rate limits by the part of their settings' names, with the requests they count. */
const THROTTLES = {
  unauthenticated: 'unauthenticated requests outside the API',
  unauthenticated_api: 'unauthenticated API requests',
  authenticated_api: 'authenticated API requests',
  authenticated_web: 'authenticated requests outside the API',
  unauthenticated_packages_api: 'unauthenticated requests to the packages API',
  authenticated_packages_api: 'authenticated requests to the packages API',
  unauthenticated_files_api: 'unauthenticated requests to the files API',
  authenticated_files_api: 'authenticated requests to the files API',
  unauthenticated_deprecated_api: 'unauthenticated requests to deprecated API endpoints',
  authenticated_deprecated_api: 'authenticated requests to deprecated API endpoints',
  authenticated_git_lfs: 'authenticated Git LFS requests',
  protected_paths: 'POST requests to protected paths',
} as const;

const throttles = Object.fromEntries(
  Object.entries(THROTTLES).flatMap(([name, requests]): [string, DescribedAttribute][] => [
    [`throttle_${name}_enabled`, described(`Limit the rate of ${requests}`, bool())],
    [
      `throttle_${name}_requests_per_period`,
      described(`Maximum number of ${requests} per period`, int({ above: 0 })),
    ],
    [
      `throttle_${name}_period_in_seconds`,
      described(`Length of the period for ${requests}, in seconds`, int({ above: 0 })),
    ],
  ]),
);

/** An entry that cannot be parsed would make every request to another server fail. */
function destinationProblem(entry: string): string | undefined {
  try {
    parseAllowList(entry);
    return undefined;
  } catch {
    return `'${entry}' is not a hostname, IP address or CIDR range`;
  }
}

export const limitAttributes: Readonly<Record<string, DescribedAttribute>> = {
  ...throttles,
  throttle_incident_management_notification_enabled: described(
    'Limit the rate of incident notifications',
    bool(),
  ),
  throttle_incident_management_notification_per_period: described(
    'Maximum number of incident notifications per period',
    int({ above: 0 }),
  ),
  throttle_incident_management_notification_period_in_seconds: described(
    'Length of the period, in seconds',
    int({ above: 0 }),
  ),
  protected_paths: described('Paths that the protected paths rate limit applies to', list({ max: 100 })),
  rate_limiting_response_text: described(
    'Body of responses to requests above a rate limit',
    obeyed(text({ max: 1000 })),
  ),
  issues_create_limit: described('Maximum number of new issues per user and minute; 0: unlimited', int()),
  notes_create_limit: described('Maximum number of new notes per user and minute; 0: unlimited', int()),
  notes_create_limit_allowlist: described(
    'Usernames that `notes_create_limit` does not apply to',
    list({ max: 100 }),
  ),
  raw_blob_request_limit: described(
    'Maximum number of requests per minute for one raw file; 0: unlimited',
    int(),
  ),
  archive_download_limit: described(
    'Maximum number of archives per user, project and minute; 0: unlimited',
    int(),
  ),
  users_get_by_id_limit: described(
    'Maximum number of requests for users by id per user and 10 minutes; 0: unlimited',
    int(),
  ),
  users_get_by_id_limit_allowlist: described(
    'Usernames that `users_get_by_id_limit` does not apply to',
    list({ max: 100 }),
  ),
  search_rate_limit: described('Maximum number of searches per user and minute; 0: unlimited', int()),
  search_rate_limit_unauthenticated: described(
    'Maximum number of searches per IP address and minute without authentication; 0: unlimited',
    int({ default: 10 }),
  ),
  project_import_limit: described(
    'Maximum number of project imports per user and minute; 0: unlimited',
    int(),
  ),
  project_export_limit: described(
    'Maximum number of project exports per user and minute; 0: unlimited',
    int({ default: 6 }),
  ),
  project_download_export_limit: described(
    'Maximum number of downloads of a project export per user and minute; 0: unlimited',
    int({ default: 1 }),
  ),
  group_import_limit: described(
    'Maximum number of group imports per user and minute; 0: unlimited',
    int({ default: 6 }),
  ),
  group_export_limit: described(
    'Maximum number of group exports per user and minute; 0: unlimited',
    int({ default: 6 }),
  ),
  group_download_export_limit: described(
    'Maximum number of downloads of a group export per user and minute; 0: unlimited',
    int({ default: 1 }),
  ),
  push_event_activities_limit: described(
    'Number of changed branches or tags in a push above which one event is recorded for all of a kind; 0: always one',
    int(),
  ),
  push_event_hooks_limit: described(
    'Number of changed branches, or of changed tags, in a push above which no hooks are called about them; 0: never',
    int(),
  ),

  max_attachment_size: described('Maximum size of attachments, in MB', int({ above: 0 })),
  max_artifacts_size: described('Maximum size of the artifacts of a job, in MB', int({ above: 0 })),
  max_import_size: described('Maximum size of an import in MB; 0: the limit of the instance', int()),
  max_pages_size: described(
    'Maximum size of a Pages site in MB; 0: unlimited',
    int({ default: 100, max: 1_048_575 }),
  ),
  receive_max_input_size: described(
    'Maximum size of a push in MB; null: the limit of the instance',
    int({ nullable: true, above: 0 }),
  ),
  snippet_size_limit: described('Maximum size of a snippet, in bytes', int({ above: 0 })),
  wiki_page_max_content_bytes: described(
    'Maximum size of a wiki page in bytes, at least 1,024',
    int({ min: 1024 }),
  ),
  metrics_method_call_threshold: described(
    'Duration in milliseconds from which a method call is measured',
    int({ default: 10 }),
  ),
  container_registry_token_expire_delay: described(
    'Lifetime of container registry tokens, in minutes',
    int({ default: 5, above: 0 }),
  ),
  container_registry_delete_tags_service_timeout: described(
    'Maximum time to delete a batch of tags for a cleanup policy, in seconds',
    int({ default: 250 }),
  ),
  container_registry_expiration_policies_worker_capacity: described(
    'Number of workers for cleanup policies',
    int({ default: 0 }),
  ),
  container_registry_cleanup_tags_service_max_list_size: described(
    'Maximum number of tags deleted in one run of a cleanup policy',
    int({ default: 200 }),
  ),
  packages_cleanup_package_file_worker_capacity: described(
    'Number of workers that delete package files',
    int({ default: 2 }),
  ),

  allow_local_requests_from_web_hooks_and_services: described(
    'Allow webhooks, integrations and imports to request local addresses',
    bool(),
  ),
  allow_local_requests_from_system_hooks: described('Allow system hooks to request local addresses', bool()),
  dns_rebinding_protection_enabled: described(
    'Protect outbound requests against DNS rebinding; always on',
    bool(true),
  ),
  outbound_local_requests_whitelist: described(
    'Local hostnames, IP addresses and CIDR ranges that may be requested even if local addresses are not allowed',
    list({ check: destinationProblem }),
  ),
  asset_proxy_enabled: described('Load images through an asset proxy', bool(false)),
  asset_proxy_url: described('URL of the asset proxy', url()),
  asset_proxy_secret_key: described('Secret shared with the asset proxy', secret()),
  asset_proxy_allowlist: described(
    'Domains whose assets are loaded directly; `*` matches any text',
    list({ default: [] }),
  ),
  static_objects_external_storage_url: described(
    'URL of an external storage for static objects of repositories',
    url(),
  ),
  static_objects_external_storage_auth_token: described('Token for the external storage', secret()),
  external_authorization_service_timeout: described(
    'Timeout of the external authorization service, in seconds, at most 10',
    float({ default: null, nullable: true, above: 0, max: 10 }),
  ),
  external_pipeline_validation_service_url: described('URL of a service that validates pipelines', url()),
  external_pipeline_validation_service_timeout: described(
    'Timeout of the pipeline validation service, in seconds',
    int({ default: null, nullable: true, above: 0 }),
  ),
  external_pipeline_validation_service_token: described(
    'Token for the pipeline validation service',
    secret(),
  ),
  secret_detection_token_revocation_enabled: described('Revoke leaked tokens automatically', bool(false)),
  secret_detection_token_revocation_url: described('URL of the service that revokes leaked tokens', line()),
  secret_detection_token_revocation_token: described('Token for the revocation service', secret()),
};
