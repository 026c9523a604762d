import type { AccessLevel, MemberSource } from './members.ts';

/** An invitation to become a member, sent to an email address. */
export interface InvitationRecord {
  readonly id: number;
  readonly source: MemberSource;
  /** In the case it was entered with. */
  readonly email: string;
  readonly accessLevel: AccessLevel;
  /** Expiry date of the membership: `YYYY-MM-DD`, or null. */
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly createdById: number;
  /** Digest of the token in the mailed link. */
  readonly hash: string;
  /** Base URL of links in its mails; absent in rows of earlier releases. */
  readonly baseUrl?: string;
}

/** Maximum number of pending invitations of one project or group. */
export const MAX_INVITATIONS = 1000;
