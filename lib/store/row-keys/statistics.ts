import type { MemberSource } from '../../records/members.ts';
import type { Key } from './key.ts';
import { memberPartition } from './members.ts';

/** What a project was measured to be, and what the projects directly in a group come to. */
export const statisticsKey = (of: MemberSource): Key => ({ pk: memberPartition(of), sk: 'STATISTICS' });
