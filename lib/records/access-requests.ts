import type { MemberSource } from './members.ts';

/** A user's request to become a member of a project or group. The user is not a member until it is approved. */
export interface AccessRequestRecord {
  readonly source: MemberSource;
  readonly userId: number;
  readonly requestedAt: string;
}
