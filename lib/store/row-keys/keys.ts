import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { userKey } from './users.ts';

/** Kinds of rows that a user owns: SSH keys, GPG keys, secondary email addresses. */
export type OwnKind = 'SSHKEY' | 'GPGKEY' | 'ADDRESS';

export const ownPrefix = (kind: OwnKind): string => `${kind}#`;

export const ownKey = (userId: number, kind: OwnKind, id: number): Key => ({
  pk: userKey(userId).pk,
  sk: ownPrefix(kind) + padded(id),
});

/** Number of rows of each kind. */
export const ownCountKey = (userId: number): Key => ({ pk: userKey(userId).pk, sk: 'OWNED' });

/** Maps the public id of an SSH key to its owner. */
export const sshKeyIdKey = (id: number): Key => ({ pk: `SSHKEYID#${padded(id)}`, sk: 'SSHKEYID' });

/** Maps a fingerprint (MD5 with colons, or SHA-256 in base64) to the owner. */
export const sshFingerprintKey = (fingerprint: string): Key => ({
  pk: `SSHKEY#${fingerprint}`,
  sk: 'SSHKEY',
});

/** Maps the id of an OpenPGP key or signing subkey (16 hex digits) to the owner. */
export const gpgKeyIdKey = (keyId: string): Key => ({ pk: `GPGKEY#${keyId}`, sk: 'GPGKEY' });

export const rowKinds = [
  { name: 'owned-by-user', partitions: ['USER#'], keys: { ownKey }, of: ['user'] },
  { name: 'owned-count', partitions: ['USER#'], keys: { ownCountKey }, of: ['user'] },
  {
    name: 'ssh-key-claim',
    partitions: ['SSHKEYID#', 'SSHKEY#'],
    keys: { sshKeyIdKey, sshFingerprintKey },
    of: ['user'],
  },
  { name: 'gpg-key-claim', partitions: ['GPGKEY#'], keys: { gpgKeyIdKey }, of: ['user'] },
] as const satisfies readonly RowKind[];
