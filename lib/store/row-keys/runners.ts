import { groupKey } from './groups.ts';
import type { Key } from './key.ts';

/** Registration token of a group's runners. */
export const runnersTokenKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'RUNNERS_TOKEN' });
