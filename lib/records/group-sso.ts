import type { AccessLevel } from './members.ts';

/** Single sign-on of a group: its identity provider, and the role that new members get. */
export interface GroupSso {
  readonly enabled: boolean;
  readonly enforced: boolean;
  readonly gitCheckEnforced: boolean;
  /** The identity provider's sign-in URL. */
  readonly ssoUrl: string | null;
  readonly certificateFingerprint: string | null;
  /** Access level of members that the provider creates. */
  readonly defaultRole: AccessLevel;
  /** Domains, in lower case, whose addresses are taken as confirmed when the provider names them. */
  readonly trustedDomains: readonly string[];
}
