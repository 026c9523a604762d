import { DEVELOPER, OWNER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['repository', 'merge_requests'] as const;

export const project = {
  /** Of projects whose code one may read. */
  read_merge_requests: { level: REPORTER, reader: 'anyone', features },
  /** Into the project, from a branch that the proposer may push to. */
  create_merge_request: { level: REPORTER, reader: 'signed-in', writes: true, features },
  comment_on_merge_requests: { level: REPORTER, reader: 'signed-in', writes: true, features },
  /** Everything about a merge request, not only one's own. */
  update_merge_request: { level: DEVELOPER, reader: 'nobody', writes: true, features },
  /** Where a rule lets them; without one from Developers on. */
  approve_merge_request: { level: REPORTER, reader: 'nobody', writes: true, features },
  /** Labels, milestones, assignees and reviewers. */
  organize_merge_requests: { level: REPORTER, reader: 'nobody', writes: true, features },
  delete_merge_request: { level: OWNER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;
