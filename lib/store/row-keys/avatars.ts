import type { Subject } from '../../records/subject.ts';
import type { Key } from './key.ts';
import { ABOUT, subjectPartition } from './subjects.ts';

/** Up to 200 KiB: queries of these partitions must select rows by prefix. */
export const avatarKey = (subject: Subject): Key => ({ pk: subjectPartition(subject), sk: `${ABOUT}AVATAR` });
