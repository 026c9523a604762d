import { digestOf, type Key } from './key.ts';

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
