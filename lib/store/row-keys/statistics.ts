import type { MemberSource } from '../../records/members.ts';
import type { Key } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';

/** Statistics of a project, or the sums of a group's own projects. */
export const statisticsKey = (of: MemberSource): Key => ({ pk: memberPartition(of), sk: 'STATISTICS' });

export const rowKinds = [
  {
    name: 'statistics',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { statisticsKey },
    of: ['project', 'group'],
  },
] as const satisfies readonly RowKind[];
