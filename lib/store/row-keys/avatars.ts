import type { Subject } from '../../records/subject.ts';
import type { Key } from './key.ts';
import { ABOUT, subjectPartition } from './subjects.ts';

/** Up to 200 KiB: whoever queries one of these partitions names the rows meant. */
export const avatarKey = (subject: Subject): Key => ({ pk: subjectPartition(subject), sk: `${ABOUT}AVATAR` });
