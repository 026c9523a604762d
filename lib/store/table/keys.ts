/**
 * Every key of the table is built here and nowhere else. Numbers are padded so that they sort; names that
 * are compared without case are folded here, so no caller can forget it.
 */
import { createHash } from 'node:crypto';
import { RATE_LIMITS } from './schema.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

const MAX_ID = 999_999_999_999;

/**
 * 12 digits sort as numbers do and hold every id a counter can reach in practice. Callers ask for any number:
 * what is out of range stands for an id that nobody has.
 */
export const padded = (id: number): string => String(Math.min(Math.max(0, id), MAX_ID)).padStart(12, '0');

/** Comparison form of paths, usernames and e-mail addresses. */
export const folded = (name: string): string => name.normalize('NFC').toLowerCase();

export type CounterKind =
  | 'user'
  | 'project'
  | 'token'
  | 'namespace'
  | 'branch-rule'
  | 'note'
  | 'pipeline'
  | 'ssh-key'
  | 'gpg-key'
  | 'gpg-subkey'
  | 'email'
  | 'commit-status'
  | 'project-share'
  | 'deploy-token'
  | 'invitation'
  | 'audit-event'
  | 'event';
/** What people are members of. */
export interface MemberSource {
  readonly kind: 'project' | 'group';
  readonly id: number;
}
/** `identity`: who somebody is at a provider, `<provider>/<uid>`. */
export type NameKind = 'path' | 'email' | 'identity';
export type SearchKind = 'project' | 'user' | 'group';

export const counterKey = (kind: CounterKind): Key => ({ pk: `COUNTER#${kind}`, sk: 'COUNTER' });

/** `row`: which of the instance's settings. */
export const settingsKey = (row: 'effective' | 'kept'): Key => ({ pk: 'SETTINGS#', sk: row.toUpperCase() });

/** `path`: usernames, top-level names and full project paths, which share one space. */
export const nameKey = (kind: NameKind, name: string): Key => ({
  pk: `${kind.toUpperCase()}#${wholeOrDigest(folded(name))}`,
  sk: 'NAME',
});

export const userKey = (id: number): Key => ({ pk: `USER#${padded(id)}`, sk: 'USER' });
/** Leads to the one user of a type that the service made for itself. */
export const internalUserKey = (type: string): Key => ({ pk: `INTERNAL#${type}`, sk: 'INTERNAL' });
/** Who follows a user (`FOLLOWER`), and whom they follow (`FOLLOWING`): a row with each of the two. */
export type FollowRow = 'FOLLOWER' | 'FOLLOWING';
export const followPrefix = (row: FollowRow): string => `${row}#`;
export const followKey = (userId: number, row: FollowRow, otherId: number): Key => ({
  pk: userKey(userId).pk,
  sk: followPrefix(row) + padded(otherId),
});
/** Leads from the digest of a link's token to the user who may choose a password by it. */
export const passwordResetKey = (hash: string): Key => ({ pk: `RESET#${hash}`, sk: 'RESET' });

/** What a user has several of: SSH keys, GPG keys, e-mail addresses beside the first. */
export type OwnKind = 'SSHKEY' | 'GPGKEY' | 'ADDRESS';
export const ownPrefix = (kind: OwnKind): string => `${kind}#`;
export const ownKey = (userId: number, kind: OwnKind, id: number): Key => ({
  pk: userKey(userId).pk,
  sk: ownPrefix(kind) + padded(id),
});
/** How many there are of each kind. */
export const ownCountKey = (userId: number): Key => ({ pk: userKey(userId).pk, sk: 'OWNED' });
/** Leads from the public id of an SSH key to whose it is. */
export const sshKeyIdKey = (id: number): Key => ({ pk: `SSHKEYID#${padded(id)}`, sk: 'SSHKEYID' });
/** The same from a fingerprint: MD5 with colons, or SHA-256 in base64. */
export const sshFingerprintKey = (fingerprint: string): Key => ({
  pk: `SSHKEY#${fingerprint}`,
  sk: 'SSHKEY',
});
/** From the id of an OpenPGP key or of a subkey that signs, 16 digits of hex. */
export const gpgKeyIdKey = (keyId: string): Key => ({ pk: `GPGKEY#${keyId}`, sk: 'GPGKEY' });
/** From the digest of a link's token to the address it confirms. */
export const confirmationKey = (hash: string): Key => ({ pk: `CONFIRM#${hash}`, sk: 'CONFIRM' });

/** Found by the hash alone: what access needs is one GetItem. */
export const tokenKey = (hash: string): Key => ({ pk: `TOKEN#${hash}`, sk: 'TOKEN' });
/** Leads from the public id to the hash. */
export const tokenIdKey = (id: number): Key => ({ pk: `TOKENID#${padded(id)}`, sk: 'TOKENID' });

/** Found by the hash, as an access token is. */
export const deployTokenKey = (hash: string): Key => ({ pk: `DEPLOYTOKEN#${hash}`, sk: 'DEPLOYTOKEN' });
export const deployTokenIdKey = (id: number): Key => ({
  pk: `DEPLOYTOKENID#${padded(id)}`,
  sk: 'DEPLOYTOKENID',
});
/** Whose tokens are counted and listed: a user, or the project or group whose bots act with them. */
export type TokenOwner = { readonly kind: 'user'; readonly id: number } | MemberSource;
const tokenOwnerPartition = (owner: TokenOwner): string =>
  owner.kind === 'user' ? userKey(owner.id).pk : memberPartition(owner);
/** How many live tokens an owner has; of a project or group also how many bots it ever had. */
export const tokenCountKey = (owner: TokenOwner): Key => ({ pk: tokenOwnerPartition(owner), sk: 'TOKENS' });
/** Tokens of a project or group. */
export const ACCESS_TOKEN = 'ACCESSTOKEN#';
export const accessTokenRow = (source: MemberSource, id: number): Key => ({
  pk: memberPartition(source),
  sk: `${ACCESS_TOKEN}${padded(id)}`,
});
export const DEPLOY_TOKEN = 'DEPLOYTOKEN#';
export const deployTokenRow = (source: MemberSource, id: number): Key => ({
  pk: memberPartition(source),
  sk: `${DEPLOY_TOKEN}${padded(id)}`,
});

export const projectKey = (id: number): Key => ({ pk: `PROJECT#${padded(id)}`, sk: 'PROJECT' });
/** The id is a namespace's: those of groups and of users are of one series. */
export const groupKey = (id: number): Key => ({ pk: `GROUP#${padded(id)}`, sk: 'GROUP' });
/** What may be said of any user, group or project, and goes with it. */
export interface Subject {
  readonly kind: 'user' | 'group' | 'project';
  readonly id: number;
}
const subjectPartition = ({ kind, id }: Subject): string =>
  kind === 'user' ? userKey(id).pk : memberPartition({ kind, id });
export const ABOUT = 'ABOUT#';
/** Up to 200 KiB: whoever queries one of these partitions names the rows meant. */
export const avatarKey = (subject: Subject): Key => ({ pk: subjectPartition(subject), sk: `${ABOUT}AVATAR` });
export const attributesKey = (subject: Subject): Key => ({
  pk: subjectPartition(subject),
  sk: `${ABOUT}ATTRIBUTES`,
});
/** One of them, which an index finds by its value. */
export const attributeKey = (subject: Subject, name: string): Key => ({
  pk: subjectPartition(subject),
  sk: `${ABOUT}ATTRIBUTE#${digestOf(name)}`,
});
export const attributePartition = (kind: Subject['kind'], name: string, value: string): string =>
  `ATTRIBUTE#${kind}#${digestOf(JSON.stringify([name, value]))}`;
export const MEMBER = 'MEMBER#';
export const memberPartition = ({ kind, id }: MemberSource): string =>
  (kind === 'project' ? projectKey(id) : groupKey(id)).pk;
export const memberKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${MEMBER}${padded(userId)}`,
});
/** That somebody asks to be let in. */
export const REQUEST = 'REQUEST#';
export const accessRequestKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${REQUEST}${padded(userId)}`,
});
/** That an address is invited, whoever it may be. */
export const INVITE = 'INVITE#';
export const inviteKey = (source: MemberSource, email: string): Key => ({
  pk: memberPartition(source),
  sk: INVITE + wholeOrDigest(folded(email)),
});
/** How many of them there are; sorts behind them. */
export const inviteCountKey = (source: MemberSource): Key => ({
  pk: memberPartition(source),
  sk: 'INVITES',
});
/** What an address is invited to. */
export const invitedPartition = (email: string): string => `INVITED#${wholeOrDigest(folded(email))}`;
export const invitedKey = ({ kind, id }: MemberSource, email: string): Key => ({
  pk: invitedPartition(email),
  sk: `${kind.toUpperCase()}#${padded(id)}`,
});
/** Leads from the digest of a link's token to the invitation it was mailed with. */
export const invitationKey = (hash: string): Key => ({ pk: `INVITATION#${hash}`, sk: 'INVITATION' });

/** Who counts in an outermost group, as it was found last: which list is in force, and which is being made. */
export const billableKey = (groupId: number): Key => ({ pk: `BILLABLE#${padded(groupId)}`, sk: 'BILLABLE' });
/** Groups whose list is kept. */
export const billableShards = (): readonly string[] =>
  Array.from({ length: LIST_SHARDS }, (_, shard) => `BILLABLES#${shard}`);
export const billableListKey = (groupId: number): Key => ({
  pk: `BILLABLES#${groupId % LIST_SHARDS}`,
  sk: padded(groupId),
});
/** The parts of one list, each order of it in parts of its own. */
export const billablePartition = (groupId: number, listId: string): string =>
  `BILLABLE#${padded(groupId)}#${listId}`;
export const billablePartPrefix = (order: string): string => `${order}#`;
export const billablePartKey = (groupId: number, listId: string, order: string, part: number): Key => ({
  pk: billablePartition(groupId, listId),
  sk: billablePartPrefix(order) + padded(part),
});
export type RuleKind = 'branch' | 'tag';
export const RULE = 'RULE#';
export const rulePrefix = (kind: RuleKind): string => `${RULE}${kind}#`;
/** A rule that protects the branches or tags of a name or pattern. */
export const ruleKey = (projectId: number, kind: RuleKind, name: string): Key => ({
  pk: projectKey(projectId).pk,
  sk: rulePrefix(kind) + wholeOrDigest(name),
});
/** How many rules a project has; sorts behind them. */
export const ruleCountKey = (projectId: number): Key => ({ pk: projectKey(projectId).pk, sk: 'RULES' });
/** A project that was forked from this one. */
export const FORK = 'FORK#';
export const forkKey = (projectId: number, forkId: number): Key => ({
  pk: projectKey(projectId).pk,
  sk: `${FORK}${padded(forkId)}`,
});
/** That a user starred this project. */
export const STAR = 'STAR#';
export const starKey = (projectId: number, userId: number): Key => ({
  pk: projectKey(projectId).pk,
  sk: `${STAR}${padded(userId)}`,
});
/** What a project was measured to be, and what the projects directly in a group come to. */
export const statisticsKey = (of: MemberSource): Key => ({ pk: memberPartition(of), sk: 'STATISTICS' });
/** What runners of a group register with. */
export const runnersTokenKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'RUNNERS_TOKEN' });
/** Whom a group's identity provider provisioned, by what it calls them, letter by letter. */
export const scimIdentityKey = (groupId: number, externUid: string): Key => ({
  pk: groupKey(groupId).pk,
  sk: `SCIM#${wholeOrDigest(externUid)}`,
});
/** Lead to those: in the order of the users, and by the names that the provider signs them in with. */
export const SCIM_USER = 'SCIMUSER#';
export const scimUserKey = (groupId: number, userId: number): Key => ({
  pk: groupKey(groupId).pk,
  sk: SCIM_USER + padded(userId),
});
export const scimNameKey = (groupId: number, userName: string): Key => ({
  pk: groupKey(groupId).pk,
  sk: `SCIMNAME#${wholeOrDigest(folded(userName))}`,
});
/** How many there are. */
export const scimCountKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'SCIMCOUNT' });
/** The token that the provider shows: of its group, and leading there from its digest. */
export const scimTokenOfKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'SCIMTOKEN' });
export const scimTokenKey = (hash: string): Key => ({ pk: `SCIMTOKEN#${hash}`, sk: 'SCIMTOKEN' });
/** What the search rows of a subject were made from, so that they can be taken away again. */
export const indexedKey = (kind: SearchKind, id: number): Key => ({
  pk: { project: projectKey, user: userKey, group: groupKey }[kind](id).pk,
  sk: 'INDEXED',
});
export const gramKey = (kind: SearchKind, gram: string, id: number): Key => ({
  pk: `GRAM#${kind}#${gram}`,
  sk: padded(id),
});

/** @returns the id a padded key part ends in. */
export const idOf = (keyPart: string): number => Number(keyPart.slice(-12));

// Lists over indexes: one partition per class and shard.

export const LIST_SHARDS = 4;

/** Shard of an item in the lists of its kind. */
export const listPartition = (listClass: string, id: number): string =>
  `${listClass}#${shardsOf(listClass) === 1 ? 0 : id % LIST_SHARDS}`;

export const listPartitions = (listClass: string): readonly string[] =>
  Array.from({ length: shardsOf(listClass) }, (_, shard) => `${listClass}#${shard}`);

/** Classes that stay small have one partition: fewer queries to merge. */
const SMALL = new Set([
  'archived',
  'blocked',
  'deactivated',
  'banned',
  'blocked_pending_approval',
  'service',
]);
const shardsOf = (listClass: string): number =>
  SMALL.has(listClass.slice(listClass.lastIndexOf('#') + 1)) ? 1 : LIST_SHARDS;

/** Sort key of an ordered index: the value, cut to fit 1,024 bytes, then the id as the tie-break. */
export const orderedBy = (value: string, id: number): string => `${cut(value, 900)}\u0000${padded(id)}`;

export const userPartition = (userId: number): string => `USER#${padded(userId)}`;
/** What stands below a group, one row per ancestor. */
export const treePartition = (groupId: number): string => `TREE#${padded(groupId)}`;
export type TreeKind = 'group' | 'project';
/** `DIRECT#`: children. `DEEP#`: what is below them. `SHARED#`: what the group was invited to. */
export type TreeRow = 'DIRECT' | 'DEEP' | 'SHARED';
export const treePrefix = (row: TreeRow, kind: TreeKind): string => `${row}#${kind.toUpperCase()}#`;
export const treeKey = (ancestorId: number, row: TreeRow, kind: TreeKind, id: number): Key => ({
  pk: treePartition(ancestorId),
  sk: treePrefix(row, kind) + padded(id),
});

/** A group that came in, and whose content has no rows here yet: it is found under the group itself. */
export const SETTLING = 'SETTLING#';
export const settlingKey = (ancestorId: number, id: number): Key => ({
  pk: treePartition(ancestorId),
  sk: SETTLING + padded(id),
});
/** Bounds of the rows of those, and of all that a group was invited to, and that groups below it were. */
export const LED_ELSEWHERE = { from: SETTLING, to: 'SHAREDBELOW#~' } as const;
/** A project that a group below this one was invited to. */
export const sharedBelowKey = (ancestorId: number, invitedId: number, projectId: number): Key => ({
  pk: treePartition(ancestorId),
  sk: `SHAREDBELOW#${padded(invitedId)}#${padded(projectId)}`,
});

export type UserRow =
  | 'MEMBER'
  | 'GROUPMEMBER'
  | 'REQUEST'
  | 'GROUPREQUEST'
  | 'OWN'
  | 'STAR'
  | 'TOKEN'
  | 'IMPERSONATION'
  | 'NOTE'
  | 'SCIM'
  | 'STATUS'
  | 'NOTIFY'
  | 'GROUPNOTIFY'
  | 'WATCHER'
  | 'THREAD';
export const userRow = (row: UserRow, id: number): string => `${row}#${padded(id)}`;

// One partition per repository.

export const GUARD_STRIPES = 8;
export const repositoryPartition = (repositoryId: string): string => `REPO#${repositoryId}`;
export const guardKey = (repositoryId: string, stripe: number): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `GUARD#${stripe}`,
});
export const headKey = (repositoryId: string): Key => ({ pk: repositoryPartition(repositoryId), sk: 'HEAD' });
/** Commits that stay although no ref may lead to them; not among the refs, so a million of them delay no listing. */
export const KEEP = 'KEEP#';
export const keepKey = (repositoryId: string, oid: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${KEEP}${oid}`,
});
/** Where refs pointed that were deleted or forced, by the ULID of the write. */
export const LEFT = 'LEFT#';
export const leftKey = (repositoryId: string, by: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${LEFT}${by}`,
});
export const PACK = 'PACK#';
export const packKey = (repositoryId: string, packId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${PACK}${packId}`,
});
/** A file made of packs. With the prefix `PACK` one query reads these rows and those of the packs. */
export const PACK_ROWS = 'PACK';
export const DERIVED = 'PACKFILE#';
export const derivedKey = (repositoryId: string, kind: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${DERIVED}${kind}`,
});
/** Packs that were replaced, by when: out of the way of whoever lists those in use. */
export const OLD_PACK = 'OLDPACK#';
/** @param at ISO 8601 */
export const oldPackKey = (repositoryId: string, at: string, packId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${OLD_PACK}${at}#${packId}`,
});
export const REF = 'REF#';
export const refKey = (repositoryId: string, name: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: refSort(name),
});
/** Sorts behind every `REF#` row, so one query reads the refs and then this. */
export const refNamesKey = (repositoryId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: 'REFNAMES',
});
export const leaseKey = (repositoryId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: 'LEASE',
});

/** A sort key holds 1,024 bytes and a ref name may too: long ones are cut and told apart by their digest. */
export const refSort = (name: string): string => REF + wholeOrDigest(name);

/** The longest part of a ref prefix that {@link refSort} keeps for names of any length. */
export const refPrefixSort = (prefix: string): string => REF + cut(prefix, REF_WHOLE - 66);

/** A ref table that was written for this repository, in force or not: lets a worker find and remove it. */
export const REF_TABLES = 'REFTABLES#';
export const refTableKey = (repositoryId: string, tableId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${REF_TABLES}${tableId}`,
});

/** Chunks of an immutable ref table, each under its first name. */
export const refTablePartition = (repositoryId: string, tableId: string): string =>
  `REFTABLE#${repositoryId}#${tableId}`;
export const refChunkKey = (repositoryId: string, tableId: string, firstName: string): Key => ({
  pk: refTablePartition(repositoryId, tableId),
  sk: refSort(firstName),
});
/** Leads to the chunk that begins with that branch or tag, counted from 0. */
export const refRankPrefix = (space: 'heads' | 'tags'): string => `RANK#${space}#`;
export const refRankKey = (
  repositoryId: string,
  tableId: string,
  space: 'heads' | 'tags',
  rank: number,
): Key => ({
  pk: refTablePartition(repositoryId, tableId),
  sk: refRankPrefix(space) + padded(rank),
});
export const rankOf = (sort: string): number => idOf(sort);

// Fork networks: repositories whose packs lie under one prefix and may be listed by several of them.

export const networkPartition = (networkId: string): string => `NETWORK#${networkId}`;
export const networkMemberKey = (networkId: string, repositoryId: string): Key => ({
  pk: networkPartition(networkId),
  sk: `${MEMBER}${repositoryId}`,
});
/** Who lists a pack besides the repository that wrote it. */
export const heirsPartition = (packId: string): string => `HEIRS#${packId}`;
export const heirKey = (packId: string, repositoryId: string): Key => ({
  pk: heirsPartition(packId),
  sk: repositoryId,
});

// What a project says about its commits: a partition of its own for each kind, so that it goes with the project.

/** What notes are about: a commit by its id. */
export interface Noteable {
  readonly kind: 'commit';
  readonly id: string;
}

export const notesPartition = (projectId: number): string => `NOTES#${padded(projectId)}`;
/** Ids rise with time: the notes of one thing are read from the oldest or from the newest. */
export const notePrefix = ({ kind, id }: Noteable): string => `${kind}#${id}#`;
export const noteKey = (projectId: number, noteable: Noteable, id: number): Key => ({
  pk: notesPartition(projectId),
  sk: notePrefix(noteable) + padded(id),
});

export const pipelinesPartition = (projectId: number): string => `PIPELINES#${padded(projectId)}`;
/** The kinds of rows a commit has: its pipelines, all of its statuses, and those that no later one replaced. */
export type CommitRow = 'PIPELINE' | 'STATUS' | 'LATEST';
export const commitRowPrefix = (sha: string, row: CommitRow): string => `COMMIT#${sha}#${row}#`;
export const commitRowKey = (projectId: number, sha: string, row: CommitRow, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: commitRowPrefix(sha, row) + padded(id),
});
/** Leads to the newest pipeline of a commit and ref. */
export const pipelineOfRefKey = (projectId: number, sha: string, ref: string): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `COMMIT#${sha}#REF#${digestOf(ref)}`,
});
/** Leads to the status of a name that counts in a pipeline. */
export const statusOfNameKey = (projectId: number, sha: string, pipelineId: number, name: string): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `COMMIT#${sha}#NAME#${padded(pipelineId)}#${digestOf(name)}`,
});
/** Leads from the id of a pipeline to its commit; in order of the ids it lists a project's pipelines. */
export const pipelineIdKey = (projectId: number, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `ID#${padded(id)}`,
});
/** Pipelines of a ref, in the order of their ids. */
export const refPipelinePrefix = (ref: string): string => `REF#${digestOf(ref)}#`;
export const refPipelineKey = (projectId: number, ref: string, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: refPipelinePrefix(ref) + padded(id),
});
/** The last number within the project that a pipeline got. */
export const pipelineIidKey = (projectId: number): Key => ({ pk: pipelinesPartition(projectId), sk: 'IID' });

// What was done to users, groups and projects: a partition of its own for each, which stays when they go.

export type AuditedKind = 'User' | 'Group' | 'Project';
/** @param createdAt ISO 8601 */
export const auditPosition = (createdAt: string, id: number): string => `${createdAt}#${padded(id)}`;
export const auditPartition = (kind: AuditedKind, entityId: number): string =>
  `AUDIT#${kind}#${padded(entityId)}`;
export const auditEventKey = (kind: AuditedKind, entityId: number, createdAt: string, id: number): Key => ({
  pk: auditPartition(kind, entityId),
  sk: auditPosition(createdAt, id),
});
/** What one user did to it; ids of nobody are below zero. */
export const auditOwnPartition = (kind: AuditedKind, entityId: number, authorId: number): string =>
  `${auditPartition(kind, entityId)}#BY#${padded(authorId)}`;
/** Of all that was done to things of a kind. */
export const auditListClass = (kind: AuditedKind): string => `AUDIT#${kind}`;

// What people want mail of.

/** How somebody wants to hear of one project or group. */
export const NOTIFY = 'NOTIFY#';
export const notifyKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${NOTIFY}${padded(userId)}`,
});
/** The same of everything else. */
export const notifyEverywhereKey = (userId: number): Key => ({ pk: userKey(userId).pk, sk: 'NOTIFY' });
/** That somebody wants to hear of all that goes on, or of some of it, wherever they are a member. */
export const WATCHERS = 'WATCHERS#';
export const watcherKey = (userId: number): Key => ({ pk: WATCHERS, sk: padded(userId) });
/** Who takes part in what is said about the things of a project, or wants to hear no more of one. */
export const threadsPartition = (projectId: number): string => `THREADS#${padded(projectId)}`;
export const threadPrefix = ({ kind, id }: Noteable): string => `${kind}#${id}#`;
export const threadKey = (projectId: number, noteable: Noteable, userId: number): Key => ({
  pk: threadsPartition(projectId),
  sk: threadPrefix(noteable) + padded(userId),
});
/** What links in mail are signed with, by what they do. */
export const linkSecretKey = (purpose: string): Key => ({ pk: `LINKSECRET#${purpose}`, sk: 'LINKSECRET' });

// Work outside the request.

export const OUTBOX_SHARDS = 8;
/** ULIDs sort by time; their last character is random and picks the shard. */
export const outboxKey = (id: string): Key => ({
  pk: outboxPartition(id.charCodeAt(id.length - 1) % OUTBOX_SHARDS),
  sk: id,
});
export const outboxPartition = (shard: number): string => `OUTBOX#${shard}`;

/** A push by way of the staging area. */
export const pushUploadKey = (id: string): Key => ({ pk: `UPLOAD#${id}`, sk: 'UPLOAD' });
/** Places of a user's pushes under way: as many as there are, so many may be. */
export const SLOT = 'SLOT#';
export const uploadSlotsPartition = (userId: number): string => `UPLOADS#${padded(userId)}`;
export const uploadSlotKey = (userId: number, slot: number): Key => ({
  pk: uploadSlotsPartition(userId),
  sk: `${SLOT}${slot}`,
});

/** What one subject did of a kind within one window of time. */
export const rateKey = (kind: string, subject: string, window: number): Key => ({
  pk: `${RATE_LIMITS}${kind}#${cut(subject, 900)}`,
  sk: `WINDOW#${padded(window)}`,
});

/** Where a user came from lately: counted as rates are, also by functions that only read. */
export const userAddressesKey = (userId: number): Key => ({
  pk: `${RATE_LIMITS}addresses#${padded(userId)}`,
  sk: 'ADDRESSES',
});

export const processedKey = (consumer: string, id: string): Key => ({
  pk: `DONE#${consumer}#${id}`,
  sk: 'DONE',
});

// Secrets.

/** Secrets that are read again: shared out, because all of them are walked through when the master key changes. */
export const SECRET_SHARDS = 4;
export const secretPartition = (shard: number): string => `SECRETS#${shard}`;
/** @param owner whose it is, such as `SETTINGS` or `PROJECT#<id>` @param name what it is */
export const secretKey = (owner: string, name: string): Key => ({
  pk: secretPartition(parseInt(digestOf(owner).slice(0, 4), 16) % SECRET_SHARDS),
  sk: `${owner}#${name}`,
});
/** Who changes the master key: one at a time. */
export const masterKeyLease = (): Key => ({ pk: 'MASTERKEY#', sk: 'LEASE' });

// Events of activity: a project's by time. Indexes find them by what was done, and those of an author.

export const eventsPartition = (projectId: number): string => `EVENTS#PROJECT#${padded(projectId)}`;
export const authorEventsPartition = (userId: number): string => `EVENTS#USER#${padded(userId)}`;
/** @param at ISO 8601, UTC @param facet what was done, so that a key says who may know of it */
export const eventKey = (projectId: number, at: string, id: number, facet: string): Key => ({
  pk: eventsPartition(projectId),
  sk: `${at}#${padded(id)}#${facet}`,
});
/** The same by what was done. */
export const eventFacetSort = (facet: string, at: string, id: number): string =>
  `${facet}#${at}#${padded(id)}`;

// Parts of keys.

function wholeOrDigest(name: string): string {
  if (Buffer.byteLength(name) <= REF_WHOLE) return name;
  return `${cut(name, REF_WHOLE - 66)}\u007f${digestOf(name)}`;
}
const REF_WHOLE = 1000;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** At most `bytes` of UTF-8, never half a character. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let end = bytes;
  const encoded = Buffer.from(text);
  while ((encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end);
}
