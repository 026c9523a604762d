import type { MemberSource } from '../../records/members.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';
import { userKey } from './users.ts';

/** By hash: authentication needs one GetItem. */
export const tokenKey = (hash: string): Key => ({ pk: `TOKEN#${hash}`, sk: 'TOKEN' });

/** Maps the public id to the hash. */
export const tokenIdKey = (id: number): Key => ({ pk: `TOKENID#${padded(id)}`, sk: 'TOKENID' });

/** By hash, as access tokens are. */
export const deployTokenKey = (hash: string): Key => ({ pk: `DEPLOYTOKEN#${hash}`, sk: 'DEPLOYTOKEN' });

export const deployTokenIdKey = (id: number): Key => ({
  pk: `DEPLOYTOKENID#${padded(id)}`,
  sk: 'DEPLOYTOKENID',
});

/** Owner of tokens for counts and lists: a user, or the project or group of a bot. */
export type TokenOwner = { readonly kind: 'user'; readonly id: number } | MemberSource;

const tokenOwnerPartition = (owner: TokenOwner): string =>
  owner.kind === 'user' ? userKey(owner.id).pk : memberPartition(owner);

/** Number of an owner's active tokens; of a project or group also of all bots it ever had. */
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

export const rowKinds = [
  { name: 'token', partitions: ['TOKEN#'], keys: { tokenKey }, of: ['user'] },
  { name: 'token-id', partitions: ['TOKENID#'], keys: { tokenIdKey }, of: ['user'] },
  { name: 'deploy-token', partitions: ['DEPLOYTOKEN#'], keys: { deployTokenKey }, of: ['project', 'group'] },
  {
    name: 'deploy-token-id',
    partitions: ['DEPLOYTOKENID#'],
    keys: { deployTokenIdKey },
    of: ['project', 'group'],
  },
  {
    name: 'token-count',
    partitions: ['PROJECT#', 'GROUP#', 'USER#'],
    keys: { tokenCountKey },
    of: ['project', 'group', 'user'],
  },
  {
    name: 'access-token-of-resource',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { accessTokenRow },
    of: ['project', 'group', 'user'],
  },
  {
    name: 'deploy-token-of-resource',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { deployTokenRow },
    of: ['project', 'group'],
  },
] as const satisfies readonly RowKind[];
