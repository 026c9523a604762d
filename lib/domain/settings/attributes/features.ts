/** Mail, CI, registries, packages, the web interface and integrations with other services. */
import { durationProblem } from '../durations.ts';
import {
  bool,
  decimal,
  described,
  hostname,
  int,
  line,
  list,
  obeyed,
  secret,
  text,
  url,
  word,
} from '../kinds.ts';

export const featureAttributes = {
  email_additional_text: described('Text added to the end of every email', obeyed(text({ max: 10_000 }))),
  email_author_in_body: described('Name the author in the body of notification emails', bool()),
  html_emails_enabled: described('Send emails as HTML and plain text; if false, as plain text only', bool()),
  in_product_marketing_emails_enabled: described('Send marketing emails', bool(true)),
  user_deactivation_emails_enabled: described('Send an email to users who are deactivated', bool()),
  mailgun_events_enabled: described('Receive events from Mailgun', bool(false)),
  mailgun_signing_key: described('Key that signs the events from Mailgun', secret()),

  archive_builds_in_human_readable: described(
    'Age after which jobs are archived, such as `15 days`, at least one day; empty: never',
    obeyed(line({ check: (value) => durationProblem(value) })),
  ),
  default_artifacts_expire_in: described(
    'Time after which artifacts are deleted by default, such as `30 days`',
    obeyed(
      line({
        nullable: false,
        check: (value) => durationProblem(value),
      }),
    ),
  ),
  auto_devops_enabled: described('Enable Auto DevOps for projects by default', bool(true)),
  auto_devops_domain: described('Domain of applications deployed by Auto DevOps', hostname()),
  keep_latest_artifact: described('Keep the latest artifacts of each ref', bool()),
  protected_ci_variables: described('Make new CI variables protected where the request does not say', bool()),
  shared_runners_enabled: described('Enable shared runners for new projects', bool()),
  shared_runners_text: described('Text shown to users of shared runners', text()),
  shared_runners_minutes: described('CI minutes per group and month; 0: unlimited', int({ default: 0 })),
  suggest_pipeline_enabled: described('Suggest adding a pipeline', bool(true)),
  force_pages_access_control: described('Require a sign-in for all Pages sites', bool(false)),
  pages_domain_verification_enabled: described(
    'Require users to verify that they own a custom domain',
    bool(true),
  ),
  container_expiration_policies_enable_historic_entries: described(
    'Enable cleanup policies for old projects',
    bool(false),
  ),
  container_registry_expiration_policies_caching: described(
    'Cache tags while cleanup policies run',
    bool(true),
  ),
  npm_package_requests_forwarding: described(
    'Forward requests for unknown npm packages to npmjs.com',
    bool(true),
  ),
  pypi_package_requests_forwarding: described(
    'Forward requests for unknown PyPI packages to pypi.org',
    bool(true),
  ),
  maven_package_requests_forwarding: described(
    'Forward requests for unknown Maven packages to Maven Central',
    bool(true),
  ),
  sidekiq_job_limiter_mode: described(
    'Handling of large background jobs: `track` or `compress`',
    word(['track', 'compress'], { default: 'compress' }),
  ),
  sidekiq_job_limiter_compression_threshold_bytes: described(
    'Size in bytes from which background jobs are compressed',
    int({ default: 100_000 }),
  ),
  sidekiq_job_limiter_limit_bytes: described(
    'Size in bytes above which background jobs are refused; 0: unlimited',
    int({ default: 0 }),
  ),
  valid_runner_registrars: described(
    'Kinds of resource that runners can be registered for: `project`, `group`',
    list({
      check: (kind) => (['project', 'group'].includes(kind) ? undefined : 'is not included in the list'),
    }),
  ),

  first_day_of_week: described(
    'First day of the week; 0: Sunday, 1: Monday, 6: Saturday',
    int({ default: 0, values: [0, 1, 6] }),
  ),
  time_tracking_limit_to_hours: described('Show tracked time in hours only', bool(false)),
  local_markdown_version: described(
    'Version of cached Markdown; an increment invalidates the cache',
    int({ default: 0, max: 65_535 }),
  ),
  polling_interval_multiplier: described(
    'Factor for the polling intervals of the web interface',
    decimal({ default: 1, min: 0 }),
  ),
  terminal_max_session_time: described(
    'Maximum duration of a web terminal session, in seconds; 0: unlimited',
    int({ default: 0 }),
  ),
  web_ide_clientside_preview_enabled: described('Enable live previews in the Web IDE', bool(false)),
  whats_new_variant: described(
    'Who sees the list of new features',
    word(['all_tiers', 'current_tier', 'disabled'], { default: 'all_tiers' }),
  ),
  floc_enabled: described('Take part in Federated Learning of Cohorts', bool(false)),
  help_text: described('Text shown on the help page, deprecated in favour of `help_page_text`', text()),
  help_page_text: described('Text shown on the help page', text()),
  help_page_support_url: described('URL of the support page', url()),
  help_page_documentation_base_url: described('Base URL of the documentation', url()),
  help_page_hide_commercial_content: described('Hide commercial content on the help page', bool(false)),
  hide_third_party_offers: described('Hide offers of third parties', bool(false)),
  version_check_enabled: described('Check for new versions', bool(true)),
  usage_ping_enabled: described('Send usage data', bool(true)),
  usage_ping_features_enabled: described('Enable features that require usage data', bool(false)),
  seat_link_enabled: described('Send licence usage data', bool(true)),
  pseudonymizer_enabled: described('Export pseudonymized data', bool(false)),
  prometheus_metrics_enabled: described('Enable Prometheus metrics', bool(false)),
  performance_bar_allowed_group_id: described(
    'Id of the group whose members can use the performance bar',
    int({ default: null, nullable: true }),
  ),

  grafana_enabled: described('Enable Grafana', bool(false)),
  grafana_url: described('URL of Grafana', line({ default: '/-/grafana' })),
  plantuml_enabled: described('Enable PlantUML diagrams', bool(false)),
  plantuml_url: described('URL of the PlantUML server', line()),
  kroki_enabled: described('Enable Kroki diagrams', bool(false)),
  kroki_url: described('URL of the Kroki server', url()),
  sourcegraph_enabled: described('Enable Sourcegraph', bool(false)),
  sourcegraph_url: described('URL of Sourcegraph', url()),
  sourcegraph_public_only: described('Use Sourcegraph for public projects only', bool(true)),
  gitpod_enabled: described('Enable Gitpod', bool(false)),
  gitpod_url: described('URL of Gitpod', url({ default: 'https://gitpod.io/' })),
  snowplow_enabled: described('Enable Snowplow tracking', bool(false)),
  snowplow_collector_hostname: described('Hostname of the Snowplow collector', hostname()),
  snowplow_cookie_domain: described('Domain of the Snowplow cookie', line()),
  snowplow_app_id: described('Application id of Snowplow', line()),
  slack_app_enabled: described('Enable the Slack application', bool(false)),
  slack_app_id: described('Client id of the Slack application', line()),
  slack_app_secret: described('Client secret of the Slack application', secret()),
  slack_app_signing_secret: described('Secret that signs requests of the Slack application', secret()),
  slack_app_verification_token: described('Verification token of the Slack application', secret()),
  eks_integration_enabled: described('Enable the integration with Amazon EKS', bool(false)),
  eks_account_id: described(
    'Id of the AWS account, 12 digits',
    line({
      check: (value) => (/^\d{12}$/.test(value) ? undefined : 'must be a 12-digit number'),
    }),
  ),
  eks_access_key_id: described(
    'Id of the AWS access key, 16 to 128 characters',
    line({
      max: 128,
      check: (value) => (value.length < 16 ? 'is too short (minimum is 16 characters)' : undefined),
    }),
  ),
  eks_secret_access_key: described('AWS secret access key', secret()),
  lets_encrypt_notification_email: described("Email address for notifications of Let's Encrypt", line()),
  lets_encrypt_terms_of_service_accepted: described(
    "Accept the terms of service of Let's Encrypt",
    bool(false),
  ),
  elasticsearch_indexing: described('Enable Elasticsearch indexing', bool(false)),
  elasticsearch_search: described('Enable Elasticsearch search', bool(false)),
  elasticsearch_url: described(
    'URLs of the Elasticsearch servers',
    list({ default: ['http://localhost:9200'] }),
  ),
  elasticsearch_limit_indexing: described('Index only selected projects and namespaces', bool(false)),
  elasticsearch_aws: described('Use Elasticsearch hosted by AWS', bool(false)),
  elasticsearch_aws_region: described('AWS region of Elasticsearch', line({ default: 'us-east-1' })),
  elasticsearch_aws_access_key: described('Id of the AWS access key for Elasticsearch', line()),
  elasticsearch_aws_secret_access_key: described('AWS secret access key for Elasticsearch', secret()),
  elasticsearch_indexed_field_length_limit: described(
    'Maximum length of indexed text fields, in characters; 0: unlimited',
    int({ default: 0 }),
  ),
  elasticsearch_indexed_file_size_limit_kb: described(
    'Maximum size of indexed files, in KiB',
    int({ default: 1024, above: 0 }),
  ),
  elasticsearch_max_bulk_concurrency: described(
    'Number of concurrent bulk requests per indexing operation',
    int({ default: 10, above: 0 }),
  ),
  elasticsearch_max_bulk_size_mb: described(
    'Maximum size of a bulk request, in MB',
    int({ default: 10, above: 0 }),
  ),
  elasticsearch_client_request_timeout: described(
    'Timeout of Elasticsearch requests, in seconds; 0: the default of the client',
    int({ default: 0 }),
  ),
} as const;
