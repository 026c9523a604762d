import type { AvatarOwner } from '../../records/avatars.ts';
import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { ABOUT, subjectPartition } from './subjects.ts';
import { topicKey } from './topics.ts';

/** Up to 200 KiB: queries of these partitions must select rows by prefix. */
export const avatarKey = (owner: AvatarOwner): Key => ({
  pk: owner.kind === 'topic' ? topicKey(owner.id).pk : subjectPartition(owner),
  sk: `${ABOUT}AVATAR`,
});

export const rowKinds = [
  {
    name: 'avatar',
    partitions: ['PROJECT#', 'GROUP#', 'USER#', 'TOPIC#'],
    keys: { avatarKey },
    of: ['project', 'group', 'user', 'instance'],
  },
] as const satisfies readonly RowKind[];
