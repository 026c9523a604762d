/** Accounts: who may sign up, passwords, keys, tokens, sessions, terms. */

import { type Attribute, bool, int, line, list, obeyed, secret, text, url } from '../kinds.ts';
import { linearPatternProblem } from '../patterns.ts';

/** Of keys of one kind: any, none, or so many bits at least. */
function restriction(sizes: readonly number[]): Attribute {
  const known = [0, -1, ...sizes];
  return {
    type: 'integer',
    nullable: false,
    problem: (value: number) =>
      known.includes(value)
        ? undefined
        : `must be forbidden, allowed, or one of these sizes: ${sizes.join(', ')}`,
  };
}

const isEmail = (value: string) => (/^[^@\s]+@[^@\s]+$/.test(value) ? undefined : 'is invalid');

export const accountAttributes = {
  signup_enabled: bool(true),
  require_admin_approval_after_user_signup: bool(true),
  send_user_confirmation_email: bool(false),
  new_user_signups_cap: int({ default: null, nullable: true, above: 0 }),
  domain_allowlist: list(),
  domain_denylist_enabled: bool(),
  domain_denylist: list(),
  email_restrictions_enabled: bool(),
  email_restrictions: obeyed(text({ max: 1000, check: linearPatternProblem })),
  user_default_external: bool(),
  user_default_internal_regex: obeyed(text({ max: 1000, check: linearPatternProblem })),
  updating_name_disabled_for_users: bool(false),
  deactivate_dormant_users: bool(),
  deactivate_dormant_users_period: int({ min: 90 }),
  minimum_password_length: int({ min: 8, max: 128 }),
  password_authentication_enabled_for_web: bool(true),
  password_authentication_enabled_for_git: bool(true),
  require_two_factor_authentication: bool(false),
  two_factor_grace_period: int({ default: 48 }),
  git_two_factor_session_expiry: int({ default: 15, min: 1, max: 10_080 }),
  admin_mode: bool(false),
  session_expire_delay: int({ default: 10_080 }),
  notify_on_unknown_sign_in: bool(true),
  unique_ips_limit_enabled: bool(),
  unique_ips_limit_per_user: int({ min: 1 }),
  unique_ips_limit_time_window: int(),
  user_oauth_applications: bool(true),
  disabled_oauth_sign_in_sources: list({ default: [] }),
  disable_feed_token: bool(false),
  allow_group_owners_to_manage_ldap: bool(true),
  lock_memberships_to_ldap: bool(false),
  personal_access_token_prefix: obeyed(
    line({
      max: 20,
      check: (value) =>
        /^(?!gldt-)[a-zA-Z0-9_+=/@:.-]+$/.test(value)
          ? undefined
          : "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
    }),
  ),
  max_personal_access_token_lifetime: int({ nullable: true, above: 0, max: 365 }),
  enforce_pat_expiration: bool(),
  max_ssh_key_lifetime: int({ nullable: true, above: 0, max: 365 }),
  enforce_ssh_key_expiration: bool(true),
  rsa_key_restriction: restriction([1024, 2048, 3072, 4096]),
  dsa_key_restriction: restriction([1024, 2048, 3072]),
  ecdsa_key_restriction: restriction([256, 384, 521]),
  ed25519_key_restriction: restriction([256]),
  authorized_keys_enabled: bool(true),
  enforce_terms: bool(false),
  terms: text({ max: 100_000 }),
  sign_in_text: text(),
  after_sign_up_text: text(),
  after_sign_out_path: url(),
  home_page_url: obeyed(url()),
  abuse_notification_email: line({ check: isEmail }),
  gravatar_enabled: bool(true),
  user_show_add_ssh_key_message: bool(true),
  invisible_captcha_enabled: bool(false),
  recaptcha_enabled: bool(false),
  login_recaptcha_protection_enabled: bool(false),
  recaptcha_site_key: secret(),
  recaptcha_private_key: secret(),
  akismet_enabled: bool(false),
  akismet_api_key: secret(),
  spam_check_endpoint_enabled: bool(false),
  spam_check_endpoint_url: line({
    check: (value) => (/^(grpc|tls|https?):\/\/[^\s/]+/.test(value) ? undefined : 'must be a valid URL'),
  }),
  spam_check_api_key: secret(),
  external_auth_client_cert: text(),
  external_auth_client_key: secret(),
  external_auth_client_key_pass: secret(),
} as const;
