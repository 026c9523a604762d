import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const userKey = (id: number): Key => ({ pk: `USER#${padded(id)}`, sk: 'USER' });

/** Points to the single internal user of a type. */
export const internalUserKey = (type: string): Key => ({ pk: `INTERNAL#${type}`, sk: 'INTERNAL' });

/** A follow relation has two rows: `FOLLOWER` of the followed user, `FOLLOWING` of the follower. */
export type FollowRow = 'FOLLOWER' | 'FOLLOWING';

export const followPrefix = (row: FollowRow): string => `${row}#`;

export const followKey = (userId: number, row: FollowRow, otherId: number): Key => ({
  pk: userKey(userId).pk,
  sk: followPrefix(row) + padded(otherId),
});

/** Maps the digest of a password reset token to the user. */
export const passwordResetKey = (hash: string): Key => ({ pk: `RESET#${hash}`, sk: 'RESET' });

export const userPartition = (userId: number): string => `USER#${padded(userId)}`;

/** How the index `byUser` names rows of a user: the first part of their attribute `what`. */
export const USER_ROWS = [
  'MEMBER',
  'GROUPMEMBER',
  'REQUEST',
  'GROUPREQUEST',
  'OWN',
  'STAR',
  'TOKEN',
  'IMPERSONATION',
  'NOTE',
  'ISSUE',
  'MR',
  'SCIM',
  'STATUS',
  'PIPELINE',
  'NOTIFY',
  'GROUPNOTIFY',
  'WATCHER',
  'THREAD',
  'LABEL',
  'AWARD',
  'AWARDED',
  'EPIC',
  'SNIPPET',
  'LFSLOCK',
] as const;

export type UserRow = (typeof USER_ROWS)[number];

export const userRow = (row: UserRow, id: number): string => `${row}#${padded(id)}`;

export const rowKinds = [
  { name: 'user', partitions: ['USER#'], keys: { userKey }, of: ['user'] },
  { name: 'internal-user', partitions: ['INTERNAL#'], keys: { internalUserKey }, of: ['instance'] },
  { name: 'follow', partitions: ['USER#'], keys: { followKey }, of: ['user'] },
  { name: 'password-reset', partitions: ['RESET#'], keys: { passwordResetKey }, of: ['user'], expires: true },
] as const satisfies readonly RowKind[];
