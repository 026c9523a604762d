import type { Subject } from '../../records/subject.ts';
import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { ABOUT, subjectPartition } from './subjects.ts';

/** Up to 200 KiB: queries of these partitions must select rows by prefix. */
export const avatarKey = (subject: Subject): Key => ({ pk: subjectPartition(subject), sk: `${ABOUT}AVATAR` });

export const rowKinds = [
  {
    name: 'avatar',
    partitions: ['PROJECT#', 'GROUP#', 'USER#'],
    keys: { avatarKey },
    of: ['project', 'group', 'user'],
  },
] as const satisfies readonly RowKind[];
