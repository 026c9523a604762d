import type { MemberSource } from '../../records/members.ts';
import { groupKey } from './groups.ts';
import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';

export const MEMBER = 'MEMBER#';

export const memberPartition = ({ kind, id }: MemberSource): string =>
  (kind === 'project' ? projectKey(id) : groupKey(id)).pk;

export const memberKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${MEMBER}${padded(userId)}`,
});

export const rowKinds = [
  {
    name: 'membership',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { memberKey },
    of: ['project', 'group', 'user'],
  },
] as const satisfies readonly RowKind[];
