import { GUEST, REPORTER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

/** Whoever reads the issues of a project reads the iterations that they may be in. */
export const project = {
  read_iteration: { level: GUEST, reader: 'anyone', features: ['issues'] },
} as const satisfies ProjectRules;

/** Whoever reads a group reads its iterations. */
export const group = {
  admin_iteration: { level: REPORTER, reader: 'nobody' },
} as const satisfies GroupRules;
