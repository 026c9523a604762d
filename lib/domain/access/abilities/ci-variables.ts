import { MAINTAINER, OWNER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

export const project = {
  /** Variables that jobs get, and tokens that start pipelines. */
  admin_builds: { level: MAINTAINER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
} as const satisfies ProjectRules;

export const group = {
  admin_group_variables: { level: OWNER, reader: 'nobody' },
} as const satisfies GroupRules;
