/** 10 Guest, 20 Reporter, 30 Developer, 40 Maintainer, 50 Owner. */
export type AccessLevel = 10 | 20 | 30 | 40 | 50;

export interface MemberRecord {
  readonly source: MemberSource;
  readonly userId: number;
  readonly accessLevel: AccessLevel;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly createdById: number | null;
  /** The bot user of an access token: it is not counted as a member, nor as an owner of a group. */
  readonly bot?: true;
}

/** What a membership lets its user do. */
export type HeldMembership = Pick<MemberRecord, 'accessLevel' | 'expiresAt'>;

/** A project or group that users are members of. */
export interface MemberSource {
  readonly kind: 'project' | 'group';
  readonly id: number;
}
