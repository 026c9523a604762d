/** The records that aggregates keep, as the rest of the code sees them: no keys, no index attributes. */
import type { MemberSource } from './table/keys.ts';

export type { MemberSource };

/** From the fewest who see it to the most. */
export const VISIBILITIES = ['private', 'internal', 'public'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** 10 Guest, 20 Reporter, 30 Developer, 40 Maintainer, 50 Owner. */
export type AccessLevel = 10 | 20 | 30 | 40 | 50;

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
export type UserType = 'ghost' | 'project_bot';

/** What somebody says they are at. Times are ISO 8601. */
export interface UserStatus {
  readonly emoji: string;
  readonly message: string | null;
  readonly availability: 'not_set' | 'busy';
  /** From then on it is none. */
  readonly clearAt: string | null;
}

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

/** How far a repository is that is filled with the content of another: `none` when it never was. */
export const IMPORT_STATUSES = ['none', 'scheduled', 'started', 'finished', 'failed'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export interface ImportSource {
  /** ULID: of the import, and of what is staged for it. */
  readonly id: string;
  readonly type: 'git';
  /** Without credentials. */
  readonly url: string;
}

/** What a record says of its avatar; the bytes are in a row of their own. */
export interface AvatarRecord {
  /** The last part of its URL. */
  readonly filename: string;
  readonly type: string;
  /** ULID: another for each image. */
  readonly version: string;
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

/** Times are ISO 8601 in all three. */
export interface SshKeyRecord {
  readonly id: number;
  readonly userId: number;
  readonly title: string;
  /** Type and base64, without a comment. */
  readonly key: string;
  /** `aa:bb:...` */
  readonly md5: string;
  /** Base64 without padding. */
  readonly sha256: string;
  readonly usage: SshKeyUsage;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export const SSH_KEY_USAGES = ['auth', 'signing', 'auth_and_signing'] as const;
export type SshKeyUsage = (typeof SSH_KEY_USAGES)[number];

export interface GpgKeyRecord {
  readonly id: number;
  readonly userId: number;
  /** Armored, as it was given. */
  readonly key: string;
  /** Upper-case hex. */
  readonly fingerprint: string;
  /** Those that sign, with ids of their own. */
  readonly subkeys: readonly { readonly id: number; readonly keyId: string }[];
  readonly createdAt: string;
}

/** An address beside the one in the user's record. */
export interface EmailRecord {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  readonly createdAt: string;
  readonly confirmedAt: string | null;
}

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

export interface ProjectRecord {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  /** `namespace/path` with the case its owner gave it. */
  readonly fullPath: string;
  readonly namespaceId: number;
  readonly namespacePath: string;
  readonly namespaceName: string;
  readonly namespaceKind: 'user' | 'group';
  /** The owner of a personal namespace. */
  readonly ownerId: number;
  readonly creatorId: number;
  /** Ids of the groups above, outermost first; empty in a personal namespace. */
  readonly ancestorIds: readonly number[];
  readonly visibility: Visibility;
  /** Groups it is shared with, at most {@link MAX_SHARES}. */
  readonly shares: readonly ShareRecord[];
  readonly description: string | null;
  readonly archived: boolean;
  /** The branch HEAD points to once it exists; null while the repository is empty. */
  readonly defaultBranch: string | null;
  readonly repositoryId: string;
  /** The fork network its packs lie in; absent: a network of its own, named by the repository's id. */
  readonly networkId?: string;
  /** The project it is a fork of, as long as both are there and say so. */
  readonly forkedFromId?: number;
  /** The first of the projects it descends from by that: equal in all that are related. */
  readonly forkRootId?: number;
  /** How many say that they are forks of this one. */
  readonly forksCount?: number;
  /** How many have starred it. */
  readonly starsCount?: number;
  /** Names of what it is written in, as it was measured last (`statistics.ts`). */
  readonly languages?: readonly string[];
  readonly importStatus: ImportStatus;
  /** Why the last import failed, in words that tell nothing private; null otherwise. */
  readonly importError: string | null;
  /** Of a project that was made from somebody else's repository. */
  readonly importSource?: ImportSource;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastActivityAt: string;
  /** A deletion that is to come; absent or null: none. */
  readonly deletion?: DeletionMark | null;
  /** Set when it is deleted; from then on the project answers 404 to everyone. */
  readonly deletedAt: string | null;
  readonly avatar?: AvatarRecord | null;
  /** Bytes of its repository's own packs, as measured last; absent: never. */
  readonly repositorySize?: number;
  readonly topics: readonly string[];
  /** Feature access levels and settings as given: stored and returned. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: number;
}

/** That somebody asked for the deletion of a project or group that some days are to pass before. */
export interface DeletionMark {
  readonly askedAt: string;
  /** The day on which it is deleted, `YYYY-MM-DD`. */
  readonly dueOn: string;
}

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

/**
 * A group of projects and groups. `parentId` decides where it stands; `ancestorIds`, `fullPath` and `fullName` follow
 * from it, and those below a large group follow some time after it moved.
 */
export interface GroupRecord {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly fullPath: string;
  /** Names joined with ` / `. */
  readonly fullName: string;
  readonly parentId: number | null;
  /** Outermost first; what to read ahead of walking the parents. */
  readonly ancestorIds: readonly number[];
  readonly visibility: Visibility;
  readonly description: string;
  readonly avatar?: AvatarRecord | null;
  readonly creatorId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** A deletion that is to come, with all inside; absent or null: none. */
  readonly deletion?: DeletionMark | null;
  /** Set when it is deleted; from then on it and all inside answer 404 to everyone. */
  readonly deletedAt: string | null;
  /** Its path until the move under way: what is inside is still found below that one. */
  readonly movedFrom: string | null;
  /** Groups invited to it, at most {@link MAX_SHARES}. */
  readonly shares: readonly ShareRecord[];
  /** Of an outermost group; absent or null: never set up. */
  readonly sso?: GroupSso | null;
  /** Everything the parameters set and no rule reads in the store. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: number;
}

/** Single sign-on of a group: where its people come from, and what they are in it. */
export interface GroupSso {
  readonly enabled: boolean;
  readonly enforced: boolean;
  readonly gitCheckEnforced: boolean;
  /** Of the identity provider. */
  readonly ssoUrl: string | null;
  readonly certificateFingerprint: string | null;
  /** What somebody becomes who comes from there. */
  readonly defaultRole: AccessLevel;
  /** Domains, in lower case, whose addresses are taken as confirmed when the provider names them. */
  readonly trustedDomains: readonly string[];
}

/** Groups that one project or group may be shared with. */
export const MAX_SHARES = 100;
/** Groups in each other, the outermost counted. */
export const MAX_DEPTH = 20;

/** Who may do what a rule is about: 0 nobody, 30 Developers, 40 Maintainers, each with those above, 60 administrators. */
export const RULE_LEVELS = [0, 30, 40, 60] as const;
export type RuleLevel = (typeof RULE_LEVELS)[number];

/** Protects the branches of a name, or of a pattern in which `*` stands for any text. */
export interface BranchRule {
  readonly kind: 'branch';
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly pushLevel: RuleLevel;
  readonly mergeLevel: RuleLevel;
  readonly allowForcePush: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Protects the tags of a name or pattern. */
export interface TagRule {
  readonly kind: 'tag';
  readonly projectId: number;
  readonly name: string;
  readonly createLevel: RuleLevel;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type RefRule = BranchRule | TagRule;

export interface MemberRecord {
  readonly source: MemberSource;
  readonly userId: number;
  readonly accessLevel: AccessLevel;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly createdById: number | null;
  /** The bot of an access token: nobody who counts, and no owner to rely on. */
  readonly bot?: true;
}

/** Somebody asks to be let in; whoever they are in the project or group until then, they are no member. */
export interface AccessRequestRecord {
  readonly source: MemberSource;
  readonly userId: number;
  readonly requestedAt: string;
}

/** A membership for whoever has an e-mail address. */
export interface InvitationRecord {
  readonly id: number;
  readonly source: MemberSource;
  /** As it was written. */
  readonly email: string;
  readonly accessLevel: AccessLevel;
  /** Of the membership: `YYYY-MM-DD`, or null. */
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly createdById: number;
  /** Digest of the token in the mailed link. */
  readonly hash: string;
  /** What links in mail about it begin with; earlier releases wrote none. */
  readonly baseUrl?: string;
}

/** Invitations of one project or group that nobody has taken yet. */
export const MAX_INVITATIONS = 1000;

/** How much mail somebody wants; `global`: as the groups above say, then as it is for everything else. */
export const NOTIFICATION_LEVELS = [
  'disabled',
  'participating',
  'watch',
  'global',
  'mention',
  'custom',
] as const;
export type NotificationLevel = (typeof NOTIFICATION_LEVELS)[number];

/** What mail may be about. */
export const NOTIFICATION_EVENTS = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'new_epic',
] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** What somebody chose; what is absent they never did. */
export interface NotificationChoice {
  readonly level?: NotificationLevel;
  readonly events: Readonly<Partial<Record<NotificationEvent, boolean>>>;
  /** Where mail goes; null: to the first address. Of the choice for everything alone. */
  readonly email?: string | null;
}
