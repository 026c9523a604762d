import type { AvatarRecord } from './avatars.ts';

/** `blocked_pending_approval`: asked for an account, and nobody has decided. Only `active` ones may do anything. */
export const USER_STATES = [
  'active',
  'blocked',
  'deactivated',
  'banned',
  'blocked_pending_approval',
] as const;

export type UserState = (typeof USER_STATES)[number];

/** Accounts that are nobody's: `ghost` stands for those who are gone, `project_bot` is what an access token acts as. */
type UserType = 'ghost' | 'project_bot';

/** What somebody says they are at. Times are ISO 8601. */
export interface UserStatus {
  readonly emoji: string;
  readonly message: string | null;
  readonly availability: 'not_set' | 'busy';
  /** From then on it is none. */
  readonly clearAt: string | null;
}

/** Times are ISO 8601 in UTC with milliseconds; dates are `YYYY-MM-DD`. */
export interface UserRecord {
  readonly id: number;
  readonly username: string;
  /** Their username before the move under way: projects of theirs may still be found below that one. */
  readonly movedFrom?: string | null;
  readonly name: string;
  readonly email: string;
  readonly state: UserState;
  /** Absent: a person. */
  readonly type?: UserType;
  readonly admin: boolean;
  readonly external: boolean;
  readonly privateProfile: boolean;
  readonly canCreateGroup: boolean;
  readonly projectsLimit: number;
  /** Whole projects owned in the personal namespace: counted against `projectsLimit`. */
  readonly projectsCount: number;
  readonly namespaceId: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly confirmedAt: string | null;
  readonly lastActivityOn: string | null;
  /** The day an administrator activated them again. */
  readonly activatedOn?: string;
  /** `scrypt$N$r$p$salt$hash`, or null: no password can sign in. */
  readonly passwordHash: string | null;
  /** Somebody else chose the password: it is to be replaced at the next sign-in with it. */
  readonly passwordExpired?: boolean;
  /** The one link by which a password may be chosen: digest of its token, and until when it leads there. */
  readonly passwordReset?: { readonly hash: string; readonly expiresAt: string } | null;
  /** An address that is to take the place of `email` once it is confirmed. */
  readonly unconfirmedEmail?: string | null;
  readonly avatar?: AvatarRecord | null;
  readonly status?: UserStatus | null;
  /** How many follow them, and whom they follow. */
  readonly followers?: number;
  readonly following?: number;
  /** Everything the parameters set and no rule reads yet: bio, location, note, identities, ... */
  readonly profile: Readonly<Record<string, unknown>>;
  readonly version: number;
}
