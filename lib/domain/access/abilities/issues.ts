import { GUEST, OWNER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['issues'] as const;

export const project = {
  /** All but confidential issues, which their authors and assignees see as well. */
  read_issues: { level: GUEST, reader: 'anyone', features },
  read_confidential_issues: { level: REPORTER, reader: 'nobody', features },
  create_issue: { level: GUEST, reader: 'signed-in', writes: true, features },
  /** Everything about an issue, not only its text as its author. */
  update_issue: { level: REPORTER, reader: 'nobody', writes: true, features },
  /** Numbers and times of one's choice, and deletion. */
  own_issues: { level: OWNER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;
