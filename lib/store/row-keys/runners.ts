import { groupKey } from './groups.ts';
import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** Registration token of a group's runners. */
export const runnersTokenKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'RUNNERS_TOKEN' });

export const rowKinds = [
  { name: 'runners-token', partitions: ['GROUP#'], keys: { runnersTokenKey }, of: ['group'] },
] as const satisfies readonly RowKind[];
