import { type Key, padded } from './key.ts';

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

export const userPartition = (userId: number): string => `USER#${padded(userId)}`;

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
