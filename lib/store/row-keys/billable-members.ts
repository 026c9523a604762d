import { type Key, padded } from './key.ts';
import { LIST_SHARDS } from './lists.ts';

/** Which list of billable members is in force in a top-level group, and until when it is refreshed each day. */
export const billableListKey = (groupId: number): Key => ({
  pk: `BILLABLES#${groupId % LIST_SHARDS}`,
  sk: padded(groupId),
});

export const billableShards = (): readonly string[] =>
  Array.from({ length: LIST_SHARDS }, (_, shard) => `BILLABLES#${shard}`);

/** The parts of one list, each order of it in parts of its own. */
export const billablePartition = (groupId: number, listId: string): string =>
  `BILLABLE#${padded(groupId)}#${listId}`;

export const billablePartPrefix = (order: string): string => `${order}#`;

export const billablePartKey = (groupId: number, listId: string, order: string, part: number): Key => ({
  pk: billablePartition(groupId, listId),
  sk: billablePartPrefix(order) + padded(part),
});
