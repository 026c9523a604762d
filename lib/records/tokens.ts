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
  /** An administrator's way to act as the user, who does not see it. */
  readonly impersonation?: true;
  /** Of such a one: the username that its maker had. */
  readonly impersonator?: string;
  /** The project or group that `userId` is a bot of; absent: the user is a person. */
  readonly resource?: MemberSource;
  /** What that bot is in it. */
  readonly accessLevel?: AccessLevel;
  /** Who made it, where that was somebody else. */
  readonly createdById?: number;
  /** The first of the tokens that took each other's place; absent: itself. */
  readonly familyId?: number;
}

/** What deploy tokens may be for. Only repositories are there to be read yet. */
export const DEPLOY_TOKEN_SCOPES = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
] as const;

export type DeployTokenScope = (typeof DEPLOY_TOKEN_SCOPES)[number];

/** Reads a project, or all in a group, as nobody in particular. */
export interface DeployTokenRecord {
  readonly id: number;
  readonly resource: MemberSource;
  readonly name: string;
  /** Shown with the token, as the user of HTTP Basic. */
  readonly username: string;
  readonly scopes: readonly DeployTokenScope[];
  readonly createdAt: string;
  readonly createdById: number;
  /** A time; from then on it is no good. */
  readonly expiresAt: string | null;
  readonly hash: string;
}
