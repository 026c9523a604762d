import type { AccessLevel } from './members.ts';

/** A project or group that another group was invited to: its members get at most this level. */
export interface ShareRecord {
  /** Of a project's. */
  readonly id?: number;
  readonly groupId: number;
  readonly accessLevel: AccessLevel;
  /** `YYYY-MM-DD`, or null. */
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/** Groups that one project or group may be shared with. */
export const MAX_SHARES = 100;
