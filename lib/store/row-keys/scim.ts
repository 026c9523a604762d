import { groupKey } from './groups.ts';
import { folded, type Key, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** A user provisioned by a group's identity provider, by the provider's id (case-sensitive). */
export const scimIdentityKey = (groupId: number, externUid: string): Key => ({
  pk: groupKey(groupId).pk,
  sk: `SCIM#${wholeOrDigest(externUid)}`,
});

/** Point to those rows: by user id, and by the provider's user name. */
export const SCIM_USER = 'SCIMUSER#';

export const scimUserKey = (groupId: number, userId: number): Key => ({
  pk: groupKey(groupId).pk,
  sk: SCIM_USER + padded(userId),
});

export const scimNameKey = (groupId: number, userName: string): Key => ({
  pk: groupKey(groupId).pk,
  sk: `SCIMNAME#${wholeOrDigest(folded(userName))}`,
});

/** Number of provisioned users. */
export const scimCountKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'SCIMCOUNT' });

/** The provider's token: a row of its group, and a row that maps its digest to the group. */
export const scimTokenOfKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'SCIMTOKEN' });

export const scimTokenKey = (hash: string): Key => ({ pk: `SCIMTOKEN#${hash}`, sk: 'SCIMTOKEN' });

export const rowKinds = [
  { name: 'scim-identity', partitions: ['GROUP#'], keys: { scimIdentityKey }, of: ['group', 'user'] },
  { name: 'scim-user', partitions: ['GROUP#'], keys: { scimUserKey }, of: ['group', 'user'] },
  { name: 'scim-name', partitions: ['GROUP#'], keys: { scimNameKey }, of: ['group', 'user'] },
  { name: 'scim-count', partitions: ['GROUP#'], keys: { scimCountKey }, of: ['group'] },
  { name: 'scim-token-of-group', partitions: ['GROUP#'], keys: { scimTokenOfKey }, of: ['group'] },
  { name: 'scim-token', partitions: ['SCIMTOKEN#'], keys: { scimTokenKey }, of: ['group'] },
] as const satisfies readonly RowKind[];
