import { MAINTAINER, OWNER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

export const project = {
  admin_integrations: { level: MAINTAINER, reader: 'nobody' },
} as const satisfies ProjectRules;

export const group = {
  admin_integrations: { level: OWNER, reader: 'nobody' },
} as const satisfies GroupRules;
