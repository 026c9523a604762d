/** All settings, their valid values, and the errors for invalid ones. */
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { aliases, allDefaults, attributes, demands } from '../../../lib/domain/settings/attributes.ts';
import { defaultSettings } from '../../../lib/domain/settings/defaults.ts';
import type { Attribute } from '../../../lib/domain/settings/kinds.ts';
import { awsClients } from '../../../lib/store/clients.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let root: string;

beforeAll(async () => {
  service = await startService({ background: false });
  root = service.rootToken;
});
afterAll(() => service.stop());

const PATH = '/application/settings';
const put = (json: unknown, token = root) => service.call('PUT', PATH, { token, json });
const get = async () => (await service.call('GET', PATH, { token: root })).body as Record<string, unknown>;

/** Named in the text of the interface, and in what is known of the release. */
const NAMED =
  `admin_mode admin_notification_email abuse_notification_email after_sign_out_path after_sign_up_text
  spamcheck_enabled allow_group_owners_to_manage_ldap allow_local_requests_from_hooks_and_services
  allow_local_requests_from_system_hooks allow_local_requests_from_web_hooks_and_services
  archive_builds_in_human_readable asset_proxy_enabled asset_proxy_url asset_proxy_whitelist asset_proxy_allowlist
  authorized_keys_enabled auto_devops_domain auto_devops_enabled automatic_purchased_storage_allocation
  check_namespace_plan commit_email_hostname container_registry_token_expire_delay deactivate_dormant_users
  default_artifacts_expire_in default_branch_name default_branch_protection default_ci_config_path
  default_group_visibility default_project_visibility default_snippet_visibility default_project_creation
  default_projects_limit delayed_project_deletion id signup_enabled restricted_visibility_levels
  password_authentication_enabled_for_web max_attachment_size max_import_size user_oauth_applications
  session_expire_delay home_page_url outbound_local_requests_whitelist domain_allowlist domain_denylist_enabled
  domain_denylist sign_in_text repository_storages_weighted repository_storages terminal_max_session_time
  polling_interval_multiplier rsa_key_restriction dsa_key_restriction ecdsa_key_restriction ed25519_key_restriction
  first_day_of_week enforce_terms terms performance_bar_allowed_group_id user_show_add_ssh_key_message
  local_markdown_version npm_package_requests_forwarding pypi_package_requests_forwarding snippet_size_limit
  issues_create_limit raw_blob_request_limit wiki_page_max_content_bytes require_admin_approval_after_user_signup
  personal_access_token_prefix rate_limiting_response_text keep_latest_artifact external_authorization_service_enabled
  external_authorization_service_url external_authorization_service_default_label
  external_authorization_service_timeout external_pipeline_validation_service_timeout
  external_pipeline_validation_service_url deletion_adjourned_period geo_node_allowed_ips geo_status_timeout
  file_template_project_id created_at updated_at`.split(/\s+/);
const SECRETS = `asset_proxy_secret_key external_pipeline_validation_service_token akismet_api_key
  recaptcha_private_key external_auth_client_key external_auth_client_key_pass eks_secret_access_key
  slack_app_secret mailgun_signing_key`.split(/\s+/);

test('all settings that the API names are shown, without secrets', async () => {
  const told = await get();
  expect(NAMED.filter((name) => !(name in told))).toEqual([]);
  expect([...SECRETS, 'spamcheck_api_key'].filter((name) => name in told)).toEqual([]);
  const defaults = allDefaults(readEnvironment());
  expect(told).toMatchObject({
    ...defaults,
    polling_interval_multiplier: '1.0',
    id: 1,
    created_at: null,
    updated_at: null,
  });
});

test('every setting has one default: beside the rules that obey it, or in the list of stored ones', () => {
  const obeyed = defaultSettings(readEnvironment());
  for (const [name, { default: kept, type }] of Object.entries(attributes)) {
    expect([name in obeyed, kept !== undefined, type === 'secret'].filter(Boolean), name).toHaveLength(1);
  }
  expect(Object.keys(obeyed).filter((name) => attributes[name] === undefined)).toEqual([]);
});

/** A value that it may have beside its default, as it is sent and as it is told. */
function another(name: string, attribute: Attribute, now: unknown): unknown {
  const special = SPECIAL[name];
  if (special !== undefined) return special;
  switch (attribute.type) {
    case 'boolean':
      return now !== true;
    case 'integer':
    case 'number':
      return [1, 2, 15, 1024, 300_000, 60_000, 2000].find(
        (value) => value !== now && sound(attribute, value),
      );
    case 'decimal':
      return '1.25';
    case 'list':
      return ['one.example.com', 'two.example.com'];
    case 'string':
      return [
        'words',
        'https://other.example.com',
        'a@b.example',
        'private',
        'internal',
        'track',
        'current_tier',
      ].find((value) => value !== now && sound(attribute, value));
    default:
      return undefined;
  }
}
const sound = ({ values, problem }: Attribute, value: unknown) =>
  (values?.includes(value as string) ?? true) && problem?.(value as never) === undefined;
const SPECIAL: Readonly<Record<string, unknown>> = {
  restricted_visibility_levels: ['public'],
  import_sources: ['git', 'gitea'],
  repository_storages: ['default'],
  repository_storages_weighted: { default: 40 },
  valid_runner_registrars: ['group'],
  enabled_git_access_protocol: 'http',
  gitaly_timeout_default: 56,
  gitaly_timeout_fast: 11,
  gitaly_timeout_medium: 31,
  housekeeping_incremental_repack_period: 11,
  housekeeping_full_repack_period: 51,
  housekeeping_gc_period: 201,
  mirror_capacity_threshold: 51,
  mirror_max_capacity: 101,
  archive_builds_in_human_readable: '2 weeks 3 days',
  default_artifacts_expire_in: '6 weeks',
  eks_account_id: '123456789012',
  eks_access_key_id: 'AKIA0123456789ABCDEF',
  rsa_key_restriction: 2048,
  dsa_key_restriction: -1,
  ecdsa_key_restriction: 384,
  ed25519_key_restriction: 256,
  throttle_authenticated_api_requests_per_period: 7000,
};

describe('every setting can be changed and read back', () => {
  test.each(Object.keys(attributes).filter((name) => attributes[name]!.type !== 'secret'))(
    '%s',
    async (name) => {
      const attribute = attributes[name]!;
      const before = await get();
      const was = before[name];
      if (name === 'performance_bar_allowed_group_id') return;
      const value = another(name, attribute, was);
      expect(value, 'a value to try').toBeDefined();
      // What it needs beside it when it is switched on.
      const needed = Object.fromEntries(
        [...(demands[name] ?? []), ...(WITH[name] ?? [])].map((other) => [
          other,
          FITTING[other] ?? before[other],
        ]),
      );
      const changed = await put({ ...needed, [name]: value });
      expect([changed.status, changed.body[name]], JSON.stringify(changed.body.message)).toEqual([
        200,
        value,
      ]);
      expect((await get())[name]).toEqual(value);
      // Another type is no value of it.
      const wrong = { boolean: 'maybe', integer: 'ten', number: 'ten', decimal: 'ten', weights: 'much' }[
        attribute.type as string
      ];
      if (wrong !== undefined) {
        expect(await put({ [name]: wrong })).toMatchObject({
          status: 400,
          body: { error: `${name} is invalid` },
        });
      }
      if (attribute.values !== undefined) {
        const none = attribute.type === 'integer' ? 99 : 'none of them';
        const error = `${name} does not have a valid value`;
        expect(await put({ [name]: none })).toMatchObject({ status: 400, body: { error } });
      }
      // Null takes away what may be away.
      const away = await put({ [name]: null });
      if (attribute.type === 'list' && attribute.problem?.([] as never) === undefined)
        expect([away.status, away.body[name]]).toEqual([200, []]);
      else if (attribute.nullable) expect([away.status, away.body[name]]).toEqual([200, null]);
      else expect(away.body).toEqual({ message: { [name]: ["can't be blank"] } });
      const back = Object.fromEntries(
        Object.keys(needed)
          .filter((other) => other in before)
          .map((other) => [other, before[other]]),
      );
      expect(await put({ ...back, [name]: was })).toMatchObject({ status: 200 });
      expect((await get())[name]).toEqual(was);
    },
  );
});
/** Beside what the request itself demands. */
const WITH: Readonly<Record<string, readonly string[]>> = {
  domain_denylist_enabled: ['domain_denylist'],
  asset_proxy_enabled: ['asset_proxy_url'],
  enforce_terms: ['terms'],
  lets_encrypt_terms_of_service_accepted: ['lets_encrypt_notification_email'],
};
const FITTING: Readonly<Record<string, unknown>> = {
  domain_denylist: ['denied.example.com'],
  asset_proxy_url: 'https://assets.example.com',
  terms: 'Be kind.',
  lets_encrypt_notification_email: 'ops@corp.example',
  akismet_api_key: 'k',
  recaptcha_site_key: 'k',
  recaptcha_private_key: 'k',
  mailgun_signing_key: 'k',
  eks_account_id: '123456789012',
  eks_access_key_id: 'AKIA0123456789ABCDEF',
  eks_secret_access_key: 'k',
  external_authorization_service_default_label: 'default',
  external_authorization_service_timeout: 0.5,
  external_authorization_service_url: 'https://authorize.example.com',
  gitpod_url: 'https://gitpod.example.com',
  kroki_url: 'https://kroki.example.com',
  plantuml_url: 'https://plantuml.example.com',
  sourcegraph_url: 'https://sourcegraph.example.com',
  secret_detection_token_revocation_url: 'https://revoke.example.com',
  shared_runners_text: 'text',
  slack_app_id: 'id',
  slack_app_secret: 's',
  slack_app_verification_token: 's',
  snowplow_collector_hostname: 'snowplow.example.com',
  spam_check_endpoint_url: 'grpc://spam.example.com',
  two_factor_grace_period: 48,
};

const MISSING = (name: string) => ({ error: `${name} is missing` });
const WRONG = (name: string, text: string) => ({ message: { [name]: [text] } });
/** A request body and the error it gets. */
const REFUSED: readonly (readonly [Record<string, unknown>, unknown])[] = [
  ...Object.entries(demands).map(
    ([enabled, names]) =>
      [{ [enabled]: true }, { error: names.map((name) => `${name} is missing`).join(', ') }] as const,
  ),
  [{ spamcheck_enabled: true }, MISSING('spamcheck_api_key')],
  [{ spamcheck_enabled: 'on', spam_check_api_key: 'of another' }, MISSING('spamcheck_api_key')],
  [
    { signin_enabled: true, password_authentication_enabled: true },
    { error: 'password_authentication_enabled, signin_enabled are mutually exclusive' },
  ],
  [{ domain_denylist_enabled: true }, WRONG('domain_denylist', "can't be blank")],
  [{ domain_denylist_enabled: true, domain_denylist: ' ' }, WRONG('domain_denylist', "can't be blank")],
  [{ asset_proxy_enabled: true }, WRONG('asset_proxy_url', "can't be blank")],
  [
    { asset_proxy_enabled: true, asset_proxy_url: 'ftp://x' },
    WRONG('asset_proxy_url', 'must be a valid URL'),
  ],
  [{ enforce_terms: true }, WRONG('terms', 'You need to set terms to be enforced')],
  [
    { restricted_visibility_levels: ['secret'] },
    WRONG('restricted_visibility_levels', "'secret' is not a valid visibility level"),
  ],
  [
    { restricted_visibility_levels: ['private'] },
    {
      message: Object.fromEntries(
        ['project', 'group', 'snippet'].map((what) => [
          `default_${what}_visibility`,
          ['cannot be set to a restricted visibility level'],
        ]),
      ),
    },
  ],
  [
    { restricted_visibility_levels: 'public', default_project_visibility: 'public' },
    WRONG('default_project_visibility', 'cannot be set to a restricted visibility level'),
  ],
  [{ default_projects_limit: -1 }, WRONG('default_projects_limit', 'must be greater than or equal to 0')],
  [{ max_attachment_size: 0 }, WRONG('max_attachment_size', 'must be greater than 0')],
  [{ max_artifacts_size: 0 }, WRONG('max_artifacts_size', 'must be greater than 0')],
  [{ max_import_size: -1 }, WRONG('max_import_size', 'must be greater than or equal to 0')],
  [{ minimum_password_length: 7 }, WRONG('minimum_password_length', 'must be greater than or equal to 8')],
  [{ minimum_password_length: 129 }, WRONG('minimum_password_length', 'must be less than or equal to 128')],
  [
    { wiki_page_max_content_bytes: 1023 },
    WRONG('wiki_page_max_content_bytes', 'must be greater than or equal to 1024'),
  ],
  [{ snippet_size_limit: 0 }, WRONG('snippet_size_limit', 'must be greater than 0')],
  [{ deletion_adjourned_period: 91 }, WRONG('deletion_adjourned_period', 'must be less than or equal to 90')],
  [
    { max_personal_access_token_lifetime: 366 },
    WRONG('max_personal_access_token_lifetime', 'must be less than or equal to 365'),
  ],
  [
    { throttle_authenticated_api_requests_per_period: 0 },
    WRONG('throttle_authenticated_api_requests_per_period', 'must be greater than 0'),
  ],
  [
    { throttle_unauthenticated_period_in_seconds: 0 },
    WRONG('throttle_unauthenticated_period_in_seconds', 'must be greater than 0'),
  ],
  [{ raw_blob_request_limit: -1 }, WRONG('raw_blob_request_limit', 'must be greater than or equal to 0')],
  [
    { push_event_activities_limit: 2 ** 31 },
    WRONG('push_event_activities_limit', 'must be less than or equal to 2147483647'),
  ],
  [{ raw_blob_request_limit: 1e300 }, { error: 'raw_blob_request_limit is invalid' }],
  [
    { rsa_key_restriction: 512 },
    WRONG('rsa_key_restriction', 'must be forbidden, allowed, or one of these sizes: 1024, 2048, 3072, 4096'),
  ],
  [
    { ed25519_key_restriction: 255 },
    WRONG('ed25519_key_restriction', 'must be forbidden, allowed, or one of these sizes: 256'),
  ],
  [
    {
      rsa_key_restriction: -1,
      dsa_key_restriction: -1,
      ecdsa_key_restriction: -1,
      ed25519_key_restriction: -1,
    },
    WRONG('allowed_key_types', "can't be blank"),
  ],
  [
    { repository_storages_weighted: { default: 101 } },
    WRONG('repository_storages_weighted', "value for 'default' must be between 0 and 100"),
  ],
  [{ repository_storages_weighted: { nfs: 1 } }, WRONG('repository_storages_weighted', "can't include: nfs")],
  [{ repository_storages_weighted: { default: 'x' } }, { error: 'repository_storages_weighted is invalid' }],
  [{ repository_storages: 'nfs' }, WRONG('repository_storages', "can't include: nfs")],
  [
    { archive_builds_in_human_readable: '23 hours' },
    WRONG('archive_builds_in_seconds', 'must be greater than or equal to 86400'),
  ],
  [
    { archive_builds_in_human_readable: 'soon' },
    WRONG('archive_builds_in_human_readable', 'is not a correct duration'),
  ],
  [{ default_artifacts_expire_in: '' }, WRONG('default_artifacts_expire_in', "can't be blank")],
  [
    { default_artifacts_expire_in: 'never' },
    WRONG('default_artifacts_expire_in', 'is not a correct duration'),
  ],
  [{ email_restrictions: '(a' }, WRONG('email_restrictions', 'not valid RE2 syntax: missing closing )')],
  [
    { user_default_internal_regex: '*' },
    WRONG('user_default_internal_regex', 'not valid RE2 syntax: no argument for repetition operator'),
  ],
  [{ default_branch_name: 'a..b' }, WRONG('default_branch_name', 'is not a valid branch name')],
  [
    { outbound_local_requests_whitelist: '10.0.0.0/8 *.example.com' },
    WRONG('outbound_local_requests_whitelist', "'*.example.com' is not a hostname, IP address or CIDR range"),
  ],
  [{ import_sources: 'git,svn' }, WRONG('import_sources', "'svn' is not a import source")],
  [{ abuse_notification_email: 'nobody' }, WRONG('abuse_notification_email', 'is invalid')],
  [{ admin_notification_email: 'nobody' }, WRONG('abuse_notification_email', 'is invalid')],
  [{ home_page_url: 'javascript:alert(1)' }, WRONG('home_page_url', 'must be a valid URL')],
  [
    { default_ci_config_path: '../x' },
    WRONG('default_ci_config_path', 'cannot include leading slash or directory traversal.'),
  ],
  [
    { personal_access_token_prefix: 'white space' },
    WRONG(
      'personal_access_token_prefix',
      "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
    ),
  ],
  [
    { personal_access_token_prefix: 'x'.repeat(21) },
    WRONG('personal_access_token_prefix', 'is too long (maximum is 20 characters)'),
  ],
  [
    { domain_allowlist: Array.from({ length: 1001 }, (_, n) => `d${n}.example`) },
    WRONG('domain_allowlist', 'is too long (maximum is 1000 entries)'),
  ],
  [{ domain_allowlist: [{ a: 1 }] }, { error: 'domain_allowlist is invalid' }],
  [{ terms: 'x'.repeat(100_001) }, WRONG('terms', 'is too long (maximum is 100000 characters)')],
  [{ terms: 'a\0b' }, { error: 'terms is invalid' }],
  [
    { gitaly_timeout_fast: 56 },
    {
      message: {
        gitaly_timeout_fast: ['must be less than or equal to 55'],
        gitaly_timeout_medium: ['must be greater than or equal to 56'],
      },
    },
  ],
  [{ housekeeping_gc_period: 20 }, WRONG('housekeeping_gc_period', 'must be greater than or equal to 50')],
  [{ performance_bar_allowed_group_path: 'no/such' }, WRONG('performance_bar_allowed_group_id', 'not found')],
  [
    { external_authorization_service_timeout: 11 },
    WRONG('external_authorization_service_timeout', 'must be less than or equal to 10'),
  ],
  [
    { minimum_password_length: 1, max_attachment_size: 0 },
    {
      message: {
        minimum_password_length: ['must be greater than or equal to 8'],
        max_attachment_size: ['must be greater than 0'],
      },
    },
  ],
];

test('invalid values of settings are refused by name, and nothing changes', async () => {
  const before = await get();
  for (const [json, body] of REFUSED) {
    const answer = await put(json);
    expect([answer.status, answer.body], JSON.stringify(json).slice(0, 200)).toEqual([400, body]);
  }
  expect(await get()).toEqual(before);
});

test('an update without a known setting is refused with the names of all settings', async () => {
  for (const json of [{}, { no_such_setting: 1 }, { id: 7, created_at: 'x', hashed_storage_enabled: true }]) {
    const { status, body } = await put(json);
    expect(status).toBe(400);
    expect(body.error).toMatch(
      /^abuse_notification_email, .*wiki_page_max_content_bytes are missing, at least one parameter must be provided$/,
    );
  }
  const { status, body } = await put({ no_such_setting: 1, after_sign_up_text: 'Welcome' });
  expect([status, body.after_sign_up_text, body.no_such_setting]).toEqual([200, 'Welcome', undefined]);
});

test('settings may be sent in the query, as a form, and with lists in every notation', async () => {
  const byQuery = await service.call(
    'PUT',
    `${PATH}?signup_enabled=false&default_project_visibility=internal`,
    { token: root },
  );
  expect(byQuery.body).toMatchObject({ signup_enabled: false, default_project_visibility: 'internal' });
  const form =
    'domain_allowlist[]=a.example&domain_allowlist[]=b.example&signup_enabled=1&default_project_visibility=private';
  const byForm = await service.call('PUT', PATH, { token: root, form });
  expect(byForm.body).toMatchObject({ signup_enabled: true, domain_allowlist: ['a.example', 'b.example'] });
  for (const text of [
    'a.example,b.example',
    'a.example b.example',
    'a.example\r\nb.example\n',
    ' a.example; b.example, a.example',
  ]) {
    await put({ domain_allowlist: null });
    const { body } = await put({ domain_allowlist: text });
    expect(body.domain_allowlist, JSON.stringify(text)).toEqual(['a.example', 'b.example']);
  }
  expect((await put({ domain_allowlist: '' })).body.domain_allowlist).toEqual([]);
});

test('the alias of a setting sets it, and the setting’s own name takes precedence', async () => {
  const values: Readonly<Record<string, unknown>> = { akismet_api_key: 'k' };
  for (const [alias, { of, shown }] of Object.entries(aliases)) {
    const attribute = attributes[of]!;
    if (attribute.type === 'secret') continue;
    const was = (await get())[of];
    const value = another(of, attribute, was);
    const needed = Object.fromEntries(
      [...(demands[of] ?? []), ...(WITH[of] ?? [])].map((name) => [name, values[name] ?? FITTING[name]]),
    );
    const { status, body } = await put({ ...needed, [alias]: value });
    expect([status, body[of], body[alias]], alias).toEqual([200, value, shown ? value : undefined]);
    const both = await put({ ...(of.startsWith('password_auth') ? {} : { [alias]: value }), [of]: was });
    expect([both.status, both.body[of]], alias).toEqual([200, was]);
  }
  expect((await put({ enabled_git_access_protocol: 'nil' })).body.enabled_git_access_protocol).toBe(null);
  expect((await put({ enabled_git_access_protocol: '' })).body.enabled_git_access_protocol).toBe(null);
});

test('the group of the performance bar is given by path and stored by id', async () => {
  const { body: group } = await service.call('POST', '/groups', {
    token: root,
    json: { name: 'Ops', path: 'ops' },
  });
  const id = async (json: unknown) => (await put(json)).body.performance_bar_allowed_group_id;
  expect(await id({ performance_bar_allowed_group_path: 'ops' })).toBe(group.id);
  expect(await id({ performance_bar_allowed_group_path: '' })).toBe(null);
  expect(await id({ performance_bar_allowed_group_id: 'OPS' })).toBe(group.id);
  expect(await id({ performance_bar_allowed_group_id: group.id })).toBe(group.id);
  expect(await id({ performance_bar_enabled: false })).toBe(null);
});

test('a decimal is told as text with its point, however it was given', async () => {
  const told = async (value: unknown) => {
    const { status, body } = await put({ polling_interval_multiplier: value });
    return [status, body['polling_interval_multiplier']];
  };
  for (const [given, text] of [
    [2, '2.0'],
    ['1.5', '1.5'],
    [0.000_000_25, '0.00000025'],
    ['1', '1.0'],
  ])
    expect(await told(given)).toEqual([200, text]);
});

test('the whole answer can be sent back and changes nothing', async () => {
  const before = await get();
  const { status, body } = await put({ ...before, shared_runners_text: before['shared_runners_text'] });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toEqual(before);
});

test('secret settings are accepted, encrypted and shown to nobody', async () => {
  const secret = 'a very secret text';
  const given = Object.fromEntries(
    Object.keys(attributes)
      .filter((name) => attributes[name]!.type === 'secret')
      .map((name) => [name, `${secret} ${name}`]),
  );
  const { status, body } = await put({ ...given, akismet_enabled: true });
  expect(status).toBe(200);
  expect(body.akismet_enabled).toBe(true);
  expect(JSON.stringify([body, await get()])).not.toContain(secret);
  const { body: events } = await service.call('GET', '/audit_events?per_page=100', { token: root });
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(events.map((event: { details: { change?: string } }) => event.details.change)).toContain(
    'application setting akismet_api_key',
  );
  // A small table: one page is all of it.
  const { tableName: TableName } = readEnvironment();
  const rows = await awsClients().dynamodb.send(new ScanCommand({ TableName }));
  expect(rows.LastEvaluatedKey).toBeUndefined();
  expect(rows.Items!.filter(({ pk }) => pk!.S!.startsWith('SECRETS#'))).toHaveLength(
    Object.keys(given).length,
  );
  expect(JSON.stringify(rows.Items)).not.toContain(secret);
  expect((await put({ akismet_api_key: null, akismet_enabled: false })).status).toBe(200);
});

test('the audit event of a setting contains no credentials from a URL', async () => {
  const url = 'https://agent:hidden-word@search.example:9200/a@b';
  expect((await put({ elasticsearch_url: [url], sourcegraph_url: url })).body).toMatchObject({
    elasticsearch_url: [url],
  });
  const { body: events } = await service.call('GET', '/audit_events?per_page=2', { token: root });
  expect(events.map((event: { details: { to?: string } }) => event.details.to).sort()).toEqual([
    '["https://***@search.example:9200/a@b"]',
    'https://***@search.example:9200/a@b',
  ]);
  await put({ elasticsearch_url: [], sourcegraph_url: null });
});

test('a value stored before its rule existed takes effect at the next change of any setting', async () => {
  const { store, settings } = deps();
  const { kept, effective } = await store.settings.read();
  const values = { ...kept.values, maintenance_mode_message: 'Set before' };
  const { maintenance_mode_message: _, ...others } = effective.values;
  const rows = { kept: { previous: kept, values }, effective: { previous: effective, values: others } };
  settings.changed((await store.settings.replace(rows, new Date(), [])).effective);
  expect((await get())['maintenance_mode_message']).toBe('Set before');
  expect((await settings.current()).maintenance_mode_message).not.toBe('Set before');
  expect((await put({ after_sign_up_text: 'Come in' })).status).toBe(200);
  expect((await settings.current()).maintenance_mode_message).toBe('Set before');
  await put({ maintenance_mode_message: null });
  expect((await settings.current()).maintenance_mode_message).toBe(null);
  expect((await get())['maintenance_mode_message']).toBe(null);
});
