import type { AccessLevel } from './members.ts';

/** A project or group shared with another group, whose members get at most this access level. */
export interface ShareRecord {
  /** Only of a project's shares. */
  readonly id?: number;
  readonly groupId: number;
  readonly accessLevel: AccessLevel;
  /** `YYYY-MM-DD`, or null. */
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/** Maximum number of groups that one project or group may be shared with. */
export const MAX_SHARES = 100;
