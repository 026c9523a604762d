/** Settings of users. A name or its comment gives the unit. */
export const users = {
  domain_allowlist: [] as readonly string[],
  domain_denylist_enabled: false,
  domain_denylist: [] as readonly string[],
  email_restrictions_enabled: false,
  email_restrictions: null as string | null,
  user_default_external: false,
  user_default_internal_regex: null as string | null,
  minimum_password_length: 8,
  deactivate_dormant_users: false,
  /** Days without any activity */
  deactivate_dormant_users_period: 90,
  user_deactivation_emails_enabled: true,
};
