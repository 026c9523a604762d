import type { AccessLevel, MemberSource } from './members.ts';

/** Scopes of personal access tokens. */
export const TOKEN_SCOPES = [
  'api',
  'read_user',
  'read_api',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'sudo',
] as const;

export type TokenScope = (typeof TOKEN_SCOPES)[number];

export interface TokenRecord {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revoked: boolean;
  /** Lower-case hex SHA-256 of the token's text. The text itself is never stored. */
  readonly hash: string;
  /** An impersonation token: made by an administrator, not shown to the user. */
  readonly impersonation?: true;
  /** Of an impersonation token: its creator's username at that time. */
  readonly impersonator?: string;
  /** The project or group that `userId` is a bot of; absent: the user is a person. */
  readonly resource?: MemberSource;
  /** The bot's access level in it. */
  readonly accessLevel?: AccessLevel;
  /** Its creator, where that is not the user. */
  readonly createdById?: number;
  /** The first token in a chain of rotations; absent: this token. */
  readonly familyId?: number;
}

/** Scopes of deploy tokens. Those of `registry` alone have no effect yet. */
export const DEPLOY_TOKEN_SCOPES = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
] as const;

export type DeployTokenScope = (typeof DEPLOY_TOKEN_SCOPES)[number];

/** A token without a user, for one project or all projects of a group. */
export interface DeployTokenRecord {
  readonly id: number;
  readonly resource: MemberSource;
  readonly name: string;
  /** Username of HTTP Basic, shown together with the token. */
  readonly username: string;
  readonly scopes: readonly DeployTokenScope[];
  readonly createdAt: string;
  readonly createdById: number;
  /** ISO 8601 time from which it is no longer valid. */
  readonly expiresAt: string | null;
  readonly hash: string;
}
