import { type Key, padded } from './key.ts';
import { LIST_SHARDS } from './lists.ts';
import type { RowKind } from './row-kind.ts';

/** The current list of billable members of a top-level group, and until when it is refreshed daily. */
export const billableListKey = (groupId: number): Key => ({
  pk: `BILLABLES#${groupId % LIST_SHARDS}`,
  sk: padded(groupId),
});

export const billableShards = (): readonly string[] =>
  Array.from({ length: LIST_SHARDS }, (_, shard) => `BILLABLES#${shard}`);

/** The parts of one list; each order has its own parts. */
export const billablePartition = (groupId: number, listId: string): string =>
  `BILLABLE#${padded(groupId)}#${listId}`;

export const billablePartPrefix = (order: string): string => `${order}#`;

export const billablePartKey = (groupId: number, listId: string, order: string, part: number): Key => ({
  pk: billablePartition(groupId, listId),
  sk: billablePartPrefix(order) + padded(part),
});

export const rowKinds = [
  {
    name: 'billable-list',
    partitions: ['BILLABLES#'],
    keys: { billableListKey },
    of: ['group'],
    expires: true,
  },
  {
    name: 'billable-list-part',
    partitions: ['BILLABLE#'],
    keys: { billablePartKey },
    of: ['group'],
    expires: true,
  },
] as const satisfies readonly RowKind[];
