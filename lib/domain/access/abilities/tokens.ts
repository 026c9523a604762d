import { MAINTAINER, OWNER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

export const project = {
  read_deploy_tokens: { level: MAINTAINER, reader: 'nobody' },
  admin_deploy_tokens: { level: MAINTAINER, reader: 'nobody' },
} as const satisfies ProjectRules;

export const group = {
  read_deploy_tokens: { level: MAINTAINER, reader: 'nobody' },
  admin_deploy_tokens: { level: OWNER, reader: 'nobody' },
} as const satisfies GroupRules;
