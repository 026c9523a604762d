import { GUEST, MAINTAINER, OWNER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

export const project = {
  read_members: { level: GUEST, reader: 'signed-in' },
  admin_members: { level: MAINTAINER, reader: 'nobody' },
} as const satisfies ProjectRules;

export const group = {
  read_group_members: { level: GUEST, reader: 'signed-in' },
  admin_group_members: { level: OWNER, reader: 'nobody' },
} as const satisfies GroupRules;
