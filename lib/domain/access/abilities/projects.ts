import { GUEST, MAINTAINER, OWNER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_project: { level: GUEST, reader: 'anyone' },
  admin_project: { level: MAINTAINER, reader: 'nobody' },
  archive_project: { level: OWNER, reader: 'nobody' },
  change_namespace: { level: OWNER, reader: 'nobody' },
  change_visibility_level: { level: OWNER, reader: 'nobody' },
  remove_project: { level: OWNER, reader: 'nobody' },
} as const satisfies ProjectRules;
