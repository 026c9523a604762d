import { type Key, padded } from './key.ts';
import { LIST_SHARDS } from './lists.ts';

/** Who counts in an outermost group, as it was found last: which list is in force, and which is being made. */
export const billableKey = (groupId: number): Key => ({ pk: `BILLABLE#${padded(groupId)}`, sk: 'BILLABLE' });

/** Groups whose list is kept. */
export const billableShards = (): readonly string[] =>
  Array.from({ length: LIST_SHARDS }, (_, shard) => `BILLABLES#${shard}`);

export const billableListKey = (groupId: number): Key => ({
  pk: `BILLABLES#${groupId % LIST_SHARDS}`,
  sk: padded(groupId),
});

/** The parts of one list, each order of it in parts of its own. */
export const billablePartition = (groupId: number, listId: string): string =>
  `BILLABLE#${padded(groupId)}#${listId}`;

export const billablePartPrefix = (order: string): string => `${order}#`;

export const billablePartKey = (groupId: number, listId: string, order: string, part: number): Key => ({
  pk: billablePartition(groupId, listId),
  sk: billablePartPrefix(order) + padded(part),
});
