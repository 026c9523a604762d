import type { AccessLevel, MemberSource } from './members.ts';

/** A membership for whoever has an e-mail address. */
export interface InvitationRecord {
  readonly id: number;
  readonly source: MemberSource;
  /** As it was written. */
  readonly email: string;
  readonly accessLevel: AccessLevel;
  /** Of the membership: `YYYY-MM-DD`, or null. */
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly createdById: number;
  /** Digest of the token in the mailed link. */
  readonly hash: string;
  /** What links in mail about it begin with; earlier releases wrote none. */
  readonly baseUrl?: string;
}

/** Invitations of one project or group that nobody has taken yet. */
export const MAX_INVITATIONS = 1000;
