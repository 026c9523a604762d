import { groupKey } from './groups.ts';
import { folded, type Key, padded, wholeOrDigest } from './key.ts';

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
