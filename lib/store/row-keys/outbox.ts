import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

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

export const rowKinds = [
  { name: 'outbox-message', partitions: ['OUTBOX#'], keys: { outboxKey }, of: ['instance'] },
  {
    name: 'processed-message',
    partitions: ['DONE#'],
    keys: { processedKey },
    of: ['instance'],
    expires: true,
  },
] as const satisfies readonly RowKind[];
