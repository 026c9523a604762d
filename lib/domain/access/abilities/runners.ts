import { MAINTAINER, OWNER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

export const project = {
  admin_runners: { level: MAINTAINER, reader: 'nobody' },
} as const satisfies ProjectRules;

export const group = {
  admin_runners: { level: OWNER, reader: 'nobody' },
} as const satisfies GroupRules;
