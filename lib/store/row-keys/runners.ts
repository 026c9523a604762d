import { groupKey } from './groups.ts';
import type { Key } from './key.ts';

/** What runners of a group register with. */
export const runnersTokenKey = (groupId: number): Key => ({ pk: groupKey(groupId).pk, sk: 'RUNNERS_TOKEN' });
