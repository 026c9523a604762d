/** The quick actions of issues. */

import type { IssueAction } from './issue-action.ts';
import { FIELD_ACTIONS } from './issue-fields.ts';
import { WORK_ACTIONS } from './issue-merge-request.ts';
import { OTHERS_ACTIONS } from './issue-others.ts';
import { PLANNING_ACTIONS } from './issue-planning.ts';
import { ZOOM_ACTIONS } from './issue-zoom.ts';
import { TRACKED_ACTIONS } from './of-tracked.ts';

export const ISSUE_ACTIONS: readonly IssueAction[] = [
  ...TRACKED_ACTIONS,
  ...FIELD_ACTIONS,
  ...PLANNING_ACTIONS,
  ...OTHERS_ACTIONS,
  ...WORK_ACTIONS,
  ...ZOOM_ACTIONS,
];
