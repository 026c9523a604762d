import type { MemberSource } from '../../records/members.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';

/** An access request. */
export const REQUEST = 'REQUEST#';

export const accessRequestKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${REQUEST}${padded(userId)}`,
});
