import type { MemberSource } from '../../records/members.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';

/** An access request. */
export const REQUEST = 'REQUEST#';

export const accessRequestKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${REQUEST}${padded(userId)}`,
});

export const rowKinds = [
  {
    name: 'access-request',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { accessRequestKey },
    of: ['project', 'group', 'user'],
  },
] as const satisfies readonly RowKind[];
