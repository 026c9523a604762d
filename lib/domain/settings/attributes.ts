/** All settings by the names of the REST API. */
import type { StoreEnvironment } from '../../store/environment.ts';
import type { SettingValue, SettingValues } from '../../store/settings/settings.ts';
import { accessAttributes } from './attributes/access.ts';
import { accountAttributes } from './attributes/accounts.ts';
import { featureAttributes } from './attributes/features.ts';
import { limitAttributes } from './attributes/limits.ts';
import { defaultSettings } from './defaults.ts';
import type { DescribedAttribute } from './kinds.ts';

export const attributes: Readonly<Record<string, DescribedAttribute>> = {
  ...accessAttributes,
  ...accountAttributes,
  ...limitAttributes,
  ...featureAttributes,
};

export const isSecret = (name: string): boolean => attributes[name]?.type === 'secret';

/** Defaults of all settings except secrets, which are never shown. */
export function allDefaults(environment: StoreEnvironment): Readonly<Record<string, SettingValue>> {
  const stored = Object.entries(attributes).flatMap(([name, { type, default: value }]) =>
    type === 'secret' || value === undefined ? [] : [[name, value]],
  );
  return { ...Object.fromEntries(stored), ...(defaultSettings(environment) as unknown as SettingValues) };
}

/** Alternative names of settings: former and neutral ones. `shown`: responses contain them, too. */
export const aliases: Readonly<Record<string, { readonly of: string; readonly shown: boolean }>> = {
  admin_notification_email: { of: 'abuse_notification_email', shown: true },
  allow_local_requests_from_hooks_and_services: {
    of: 'allow_local_requests_from_web_hooks_and_services',
    shown: true,
  },
  asset_proxy_whitelist: { of: 'asset_proxy_allowlist', shown: true },
  spamcheck_enabled: { of: 'akismet_enabled', shown: true },
  spamcheck_api_key: { of: 'akismet_api_key', shown: false },
  password_authentication_enabled: { of: 'password_authentication_enabled_for_web', shown: false },
  signin_enabled: { of: 'password_authentication_enabled_for_web', shown: false },
  domain_whitelist: { of: 'domain_allowlist', shown: false },
  domain_blacklist: { of: 'domain_denylist', shown: false },
  domain_blacklist_enabled: { of: 'domain_denylist_enabled', shown: false },
  outbound_local_requests_allowlist: { of: 'outbound_local_requests_whitelist', shown: false },
  throttle_unauthenticated_web_enabled: { of: 'throttle_unauthenticated_enabled', shown: false },
  throttle_unauthenticated_web_requests_per_period: {
    of: 'throttle_unauthenticated_requests_per_period',
    shown: false,
  },
  throttle_unauthenticated_web_period_in_seconds: {
    of: 'throttle_unauthenticated_period_in_seconds',
    shown: false,
  },
};

/** Settings that must be given in the same request that turns a setting on, even if they were set before. */
export const demands: Readonly<Record<string, readonly string[]>> = {
  akismet_enabled: ['akismet_api_key'],
  eks_integration_enabled: ['eks_account_id', 'eks_access_key_id', 'eks_secret_access_key'],
  external_authorization_service_enabled: [
    'external_authorization_service_default_label',
    'external_authorization_service_timeout',
    'external_authorization_service_url',
  ],
  gitpod_enabled: ['gitpod_url'],
  housekeeping_enabled: [
    'housekeeping_bitmaps_enabled',
    'housekeeping_full_repack_period',
    'housekeeping_gc_period',
    'housekeeping_incremental_repack_period',
  ],
  kroki_enabled: ['kroki_url'],
  login_recaptcha_protection_enabled: ['recaptcha_site_key', 'recaptcha_private_key'],
  mailgun_events_enabled: ['mailgun_signing_key'],
  plantuml_enabled: ['plantuml_url'],
  recaptcha_enabled: ['recaptcha_site_key', 'recaptcha_private_key'],
  require_two_factor_authentication: ['two_factor_grace_period'],
  secret_detection_token_revocation_enabled: ['secret_detection_token_revocation_url'],
  shared_runners_enabled: ['shared_runners_text'],
  slack_app_enabled: ['slack_app_id', 'slack_app_secret', 'slack_app_verification_token'],
  snowplow_enabled: ['snowplow_collector_hostname'],
  sourcegraph_enabled: ['sourcegraph_url'],
  spam_check_endpoint_enabled: ['spam_check_endpoint_url'],
};
