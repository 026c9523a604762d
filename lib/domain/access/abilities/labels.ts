import { GUEST, REPORTER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

const features = ['issues', 'merge_requests'];

/** Labels and milestones exist as long as there are issues or merge requests to use them. */
export const project = {
  read_label: { level: GUEST, reader: 'anyone', features, needs: 'any' },
  admin_label: { level: REPORTER, reader: 'nobody', writes: true, features, needs: 'any' },
  read_milestone: { level: GUEST, reader: 'anyone', features, needs: 'any' },
  admin_milestone: { level: REPORTER, reader: 'nobody', writes: true, features, needs: 'any' },
} as const satisfies ProjectRules;

export const group = {
  admin_group_label: { level: REPORTER, reader: 'nobody' },
  admin_group_milestone: { level: REPORTER, reader: 'nobody' },
} as const satisfies GroupRules;
