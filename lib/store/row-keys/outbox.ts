import type { Key } from './key.ts';

// The outbox, and marks of handled messages.

export const OUTBOX_SHARDS = 8;

/** ULIDs sort by time; their last character is random and picks the shard. */
export const outboxKey = (id: string): Key => ({
  pk: outboxPartition(id.charCodeAt(id.length - 1) % OUTBOX_SHARDS),
  sk: id,
});

export const outboxPartition = (shard: number): string => `OUTBOX#${shard}`;

export const processedKey = (consumer: string, id: string): Key => ({
  pk: `DONE#${consumer}#${id}`,
  sk: 'DONE',
});
