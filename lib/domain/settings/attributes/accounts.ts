/** Accounts: who may sign up, passwords, keys, tokens, sessions, terms. */

import {
  type Attribute,
  bool,
  described,
  int,
  line,
  list,
  obeyed,
  pattern,
  secret,
  text,
  url,
} from '../kinds.ts';

/** Restriction of one kind of SSH key: 0 allows any, -1 none, other values are the minimum size in bits. */
function restriction(sizes: readonly number[]): Attribute {
  const allowed = [0, -1, ...sizes];
  return {
    type: 'integer',
    nullable: false,
    problem: (value: number) =>
      allowed.includes(value)
        ? undefined
        : `must be forbidden, allowed, or one of these sizes: ${sizes.join(', ')}`,
  };
}

const isEmail = (value: string) => (/^[^@\s]+@[^@\s]+$/.test(value) ? undefined : 'is invalid');

export const accountAttributes = {
  signup_enabled: described('Allow new users to sign up', bool(true)),
  require_admin_approval_after_user_signup: described(
    'Require the approval of an administrator after a user signs up',
    bool(true),
  ),
  send_user_confirmation_email: described('Send a confirmation email after a user signs up', bool(false)),
  new_user_signups_cap: described(
    'Number of users above which new sign-ups need approval; null: unlimited',
    int({ default: null, nullable: true, above: 0 }),
  ),
  domain_allowlist: described(
    'Domains of email addresses that users can sign up with; `*` matches any text; empty: all',
    list(),
  ),
  domain_denylist_enabled: described('Refuse sign-ups from the domains in `domain_denylist`', bool()),
  domain_denylist: described(
    'Domains of email addresses that users cannot sign up with; `*` matches any text',
    list(),
  ),
  email_restrictions_enabled: described(
    'Refuse sign-ups with email addresses that match `email_restrictions`',
    bool(),
  ),
  email_restrictions: described(
    'Regular expression (RE2) of email addresses that users cannot sign up with',
    obeyed(pattern()),
  ),
  user_default_external: described('Make new users external by default', bool()),
  user_default_internal_regex: described(
    'Regular expression (RE2, ignoring case) of email addresses whose users are internal even if new users are external by default',
    obeyed(pattern({ ignoreCase: true })),
  ),
  updating_name_disabled_for_users: described('Prevent users from changing their name', bool(false)),
  deactivate_dormant_users: described('Deactivate users without activity automatically', bool()),
  deactivate_dormant_users_period: described(
    'Days without activity after which a user is deactivated, at least 90',
    int({ min: 90 }),
  ),
  minimum_password_length: described('Minimum length of passwords, 8 to 128', int({ min: 8, max: 128 })),
  password_authentication_enabled_for_web: described(
    'Allow signing in to the web interface with a password',
    bool(true),
  ),
  password_authentication_enabled_for_git: described('Allow Git over HTTP with a password', bool(true)),
  require_two_factor_authentication: described(
    'Require all users to set up two-factor authentication',
    bool(false),
  ),
  two_factor_grace_period: described(
    'Hours that users can postpone setting up two-factor authentication',
    int({ default: 48 }),
  ),
  git_two_factor_session_expiry: described(
    'Duration of a Git session with two-factor authentication, in minutes, 1 to 10,080',
    int({ default: 15, min: 1, max: 10_080 }),
  ),
  admin_mode: described('Require administrators to authenticate again for administrative tasks', bool(false)),
  session_expire_delay: described('Duration of a session, in minutes', int({ default: 10_080 })),
  notify_on_unknown_sign_in: described('Send an email about sign-ins from unknown IP addresses', bool(true)),
  unique_ips_limit_enabled: described('Limit the number of IP addresses that a user can use', bool()),
  unique_ips_limit_per_user: described(
    'Maximum number of IP addresses per user within the time window',
    int({ min: 1 }),
  ),
  unique_ips_limit_time_window: described(
    'Time for which an IP address counts towards the limit, in seconds',
    int(),
  ),
  user_oauth_applications: described('Allow users to register OAuth applications', bool(true)),
  disabled_oauth_sign_in_sources: described(
    'OAuth providers that are disabled for signing in',
    list({ default: [] }),
  ),
  disable_feed_token: described('Disable feed tokens', bool(false)),
  allow_group_owners_to_manage_ldap: described('Allow group owners to manage LDAP', bool(true)),
  lock_memberships_to_ldap: described('Lock memberships to LDAP synchronization', bool(false)),
  personal_access_token_prefix: described(
    'Prefix of new personal access tokens, at most 20 characters',
    obeyed(
      line({
        max: 20,
        check: (value) =>
          /^(?!gldt-)[a-zA-Z0-9_+=/@:.-]+$/.test(value)
            ? undefined
            : "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
      }),
    ),
  ),
  max_personal_access_token_lifetime: described(
    'Maximum lifetime of access tokens in days, at most 365; null: unlimited',
    int({ nullable: true, above: 0, max: 365 }),
  ),
  enforce_pat_expiration: described('Refuse personal access tokens after their expiry date', bool()),
  max_ssh_key_lifetime: described(
    'Maximum lifetime of SSH keys in days, at most 365; null: unlimited',
    int({ nullable: true, above: 0, max: 365 }),
  ),
  enforce_ssh_key_expiration: described('Refuse SSH keys after their expiry date', bool(true)),
  rsa_key_restriction: described(
    'Minimum length of RSA keys in bits; 0: any, -1: no RSA keys',
    restriction([1024, 2048, 3072, 4096]),
  ),
  dsa_key_restriction: described(
    'Minimum length of DSA keys in bits; 0: any, -1: no DSA keys',
    restriction([1024, 2048, 3072]),
  ),
  ecdsa_key_restriction: described(
    'Minimum size of the curve of ECDSA keys in bits; 0: any, -1: no ECDSA keys',
    restriction([256, 384, 521]),
  ),
  ed25519_key_restriction: described(
    'Minimum size of the curve of Ed25519 keys in bits; 0: any, -1: no Ed25519 keys',
    restriction([256]),
  ),
  authorized_keys_enabled: described('Write SSH keys to the `authorized_keys` file', bool(true)),
  enforce_terms: described('Require users to accept the terms of service', bool(false)),
  terms: described('Terms of service, in Markdown', text({ max: 100_000 })),
  sign_in_text: described('Text on the sign-in page', text()),
  after_sign_up_text: described('Text shown after signing up', text()),
  after_sign_out_path: described('URL that users are redirected to after signing out', url()),
  home_page_url: described('URL that visitors of the home page are redirected to', obeyed(url())),
  abuse_notification_email: described(
    'Email address that abuse reports are sent to',
    line({ check: isEmail }),
  ),
  gravatar_enabled: described('Use Gravatar for avatars', bool(true)),
  user_show_add_ssh_key_message: described('Show a message to users without SSH keys', bool(true)),
  invisible_captcha_enabled: described('Use an invisible captcha when signing up', bool(false)),
  recaptcha_enabled: described('Use reCAPTCHA when signing up', bool(false)),
  login_recaptcha_protection_enabled: described('Use reCAPTCHA when signing in', bool(false)),
  recaptcha_site_key: described('Site key of reCAPTCHA', secret()),
  recaptcha_private_key: described('Private key of reCAPTCHA', secret()),
  akismet_enabled: described('Use Akismet against spam', bool(false)),
  akismet_api_key: described('API key of Akismet', secret()),
  spam_check_endpoint_enabled: described('Use an external service against spam', bool(false)),
  spam_check_endpoint_url: described(
    'URL of the external spam check service',
    line({
      check: (value) => (/^(grpc|tls|https?):\/\/[^\s/]+/.test(value) ? undefined : 'must be a valid URL'),
    }),
  ),
  spam_check_api_key: described('API key of the external spam check service', secret()),
  external_auth_client_cert: described('Client certificate for the external authorization service', text()),
  external_auth_client_key: described('Private key of the client certificate', secret()),
  external_auth_client_key_pass: described('Passphrase of the private key', secret()),
} as const;
