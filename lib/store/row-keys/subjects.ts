import type { Subject } from '../../records/subject.ts';
import { memberPartition } from './members.ts';
import { userKey } from './users.ts';

export const subjectPartition = ({ kind, id }: Subject): string =>
  kind === 'user' ? userKey(id).pk : memberPartition({ kind, id });

export const ABOUT = 'ABOUT#';
