import type { AvatarRecord } from './avatars.ts';

/** `blocked_pending_approval`: signed up and not approved yet. Only `active` users have access. */
export const USER_STATES = [
  'active',
  'blocked',
  'deactivated',
  'banned',
  'blocked_pending_approval',
] as const;

export type UserState = (typeof USER_STATES)[number];

/** Accounts of the service: `ghost` owns what deleted users leave, `alert_bot` opens and closes incidents. */
export const INTERNAL_TYPES = ['ghost', 'alert_bot'] as const;
export type InternalType = (typeof INTERNAL_TYPES)[number];

/** Accounts without a person: of the service, and `project_bot`, the user of an access token. */
type UserType = InternalType | 'project_bot';

export const isInternal = ({ type }: { readonly type?: UserType | undefined }): boolean =>
  INTERNAL_TYPES.some((each) => each === type);

/** A user's status message. Times are ISO 8601. */
export interface UserStatus {
  readonly emoji: string;
  readonly message: string | null;
  readonly availability: 'not_set' | 'busy';
  /** The status is cleared at this time; null: never. */
  readonly clearAt: string | null;
}

/** Times are ISO 8601 in UTC with milliseconds; dates are `YYYY-MM-DD`. */
export interface UserRecord {
  readonly id: number;
  readonly username: string;
  /** Previous username while a rename is in progress: projects may still have paths below it. */
  readonly movedFrom?: string | null;
  readonly name: string;
  readonly email: string;
  readonly state: UserState;
  /** Absent: a regular user. */
  readonly type?: UserType;
  readonly admin: boolean;
  readonly external: boolean;
  readonly privateProfile: boolean;
  readonly canCreateGroup: boolean;
  readonly projectsLimit: number;
  /** Number of projects in the personal namespace: counted against `projectsLimit`. */
  readonly projectsCount: number;
  readonly namespaceId: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly confirmedAt: string | null;
  readonly lastActivityOn: string | null;
  /** The day an administrator reactivated the user. */
  readonly activatedOn?: string;
  /** `scrypt$N$r$p$salt$hash`; null: no sign-in with a password. */
  readonly passwordHash: string | null;
  /** The password was set by another user: it must be changed at the next sign-in. */
  readonly passwordExpired?: boolean;
  /** The valid password reset link: digest of its token, and when it expires. */
  readonly passwordReset?: { readonly hash: string; readonly expiresAt: string } | null;
  /** An address that replaces `email` once it is confirmed. */
  readonly unconfirmedEmail?: string | null;
  readonly avatar?: AvatarRecord | null;
  readonly status?: UserStatus | null;
  /** Numbers of followers and of users followed. */
  readonly followers?: number;
  readonly following?: number;
  /** Attributes that the store keeps and never reads: bio, location, note, identities, ... */
  readonly profile: Readonly<Record<string, unknown>>;
  readonly version: number;
}
