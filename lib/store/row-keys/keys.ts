import { type Key, padded } from './key.ts';
import { userKey } from './users.ts';

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
