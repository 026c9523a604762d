import { digestOf, type Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

// Secrets.

/** Readable secrets, in shards: all are read when the master key changes. */
export const SECRET_SHARDS = 4;

export const secretPartition = (shard: number): string => `SECRETS#${shard}`;

/** The partition of everything that is sealed for an owner. */
export const secretsOf = (owner: string): string =>
  secretPartition(parseInt(digestOf(owner).slice(0, 4), 16) % SECRET_SHARDS);

/** @param owner such as `SETTINGS` or `PROJECT#<id>` @param name of the secret */
export const secretKey = (owner: string, name: string): Key => ({
  pk: secretsOf(owner),
  sk: `${owner}#${name}`,
});

/** Lease for changing the master key. */
export const masterKeyLease = (): Key => ({ pk: 'MASTERKEY#', sk: 'LEASE' });

export const rowKinds = [
  { name: 'secret', partitions: ['SECRETS#'], keys: { secretKey }, of: ['instance'] },
  { name: 'master-key-lease', partitions: ['MASTERKEY#'], keys: { masterKeyLease }, of: ['instance'] },
] as const satisfies readonly RowKind[];
