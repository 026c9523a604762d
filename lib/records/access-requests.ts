import type { MemberSource } from './members.ts';

/** Somebody asks to be let in; whoever they are in the project or group until then, they are no member. */
export interface AccessRequestRecord {
  readonly source: MemberSource;
  readonly userId: number;
  readonly requestedAt: string;
}
