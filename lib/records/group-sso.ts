import type { AccessLevel } from './members.ts';

/** Single sign-on of a group: where its people come from, and what they are in it. */
export interface GroupSso {
  readonly enabled: boolean;
  readonly enforced: boolean;
  readonly gitCheckEnforced: boolean;
  /** Of the identity provider. */
  readonly ssoUrl: string | null;
  readonly certificateFingerprint: string | null;
  /** What somebody becomes who comes from there. */
  readonly defaultRole: AccessLevel;
  /** Domains, in lower case, whose addresses are taken as confirmed when the provider names them. */
  readonly trustedDomains: readonly string[];
}
