import type { MemberSource } from '../../records/members.ts';
import { groupKey } from './groups.ts';
import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';

export const MEMBER = 'MEMBER#';

export const memberPartition = ({ kind, id }: MemberSource): string =>
  (kind === 'project' ? projectKey(id) : groupKey(id)).pk;

export const memberKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${MEMBER}${padded(userId)}`,
});
