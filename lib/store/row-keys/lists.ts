// Lists over indexes: one partition per class and shard.

export const LIST_SHARDS = 4;

/** Shard of an item in the lists of its kind. */
export const listPartition = (listClass: string, id: number): string =>
  `${listClass}#${shardsOf(listClass) === 1 ? 0 : id % LIST_SHARDS}`;

export const listPartitions = (listClass: string): readonly string[] =>
  Array.from({ length: shardsOf(listClass) }, (_, shard) => `${listClass}#${shard}`);

/** Classes that stay small have one partition: fewer queries to merge. */
const SMALL = new Set([
  'archived',
  'blocked',
  'deactivated',
  'banned',
  'blocked_pending_approval',
  'service',
  'shown',
  'hidden',
]);

const shardsOf = (listClass: string): number =>
  SMALL.has(listClass.slice(listClass.lastIndexOf('#') + 1)) ? 1 : LIST_SHARDS;
