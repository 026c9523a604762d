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

export const promisesPartition = (list: string): string => `PROMISES#${list}`;

/** What is promised in a list, in the order of the messages. */
export const promiseKey = (list: string, id: string): Key => ({ pk: promisesPartition(list), sk: id });

export const processedKey = (consumer: string, id: string): Key => ({
  pk: `DONE#${consumer}#${id}`,
  sk: 'DONE',
});

export const rowKinds = [
  { name: 'outbox-message', partitions: ['OUTBOX#'], keys: { outboxKey }, of: ['instance'] },
  {
    name: 'promise',
    partitions: ['PROMISES#'],
    keys: { promiseKey },
    of: ['project', 'group', 'instance'],
    expires: true,
  },
  {
    name: 'processed-message',
    partitions: ['DONE#'],
    keys: { processedKey },
    of: ['instance'],
    expires: true,
  },
] as const satisfies readonly RowKind[];
