import type { MemberSource } from '../../records/members.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import { userKey } from './users.ts';

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
