/** The quick actions of issues. */

import { patternOf } from './extract.ts';
import type { IssueAction } from './issue-action.ts';
import { ASSIGNMENT_ACTIONS } from './issue-assignment.ts';
import { FIELD_ACTIONS } from './issue-fields.ts';
import { OTHERS_ACTIONS } from './issue-others.ts';
import { PLANNING_ACTIONS } from './issue-planning.ts';
import { TIME_ACTIONS } from './issue-time.ts';
import { USER_ACTIONS } from './issue-users.ts';

export const ISSUE_ACTIONS: readonly IssueAction[] = [
  ...FIELD_ACTIONS,
  ...ASSIGNMENT_ACTIONS,
  ...PLANNING_ACTIONS,
  ...TIME_ACTIONS,
  ...OTHERS_ACTIONS,
  ...USER_ACTIONS,
];

/** Quick actions of other objects, and of features that there are not: they are taken out of the text and do nothing. */
const WITHOUT_EFFECT = [
  ...['approve', 'unapprove', 'merge', 'rebase', 'draft', 'wip', 'ready', 'target_branch', 'submit_review'],
  ...['assign_reviewer', 'reviewer', 'request_review', 'reassign_reviewer', 'unassign_reviewer'],
  ...['remove_reviewer', 'child_epic', 'remove_child_epic', 'parent_epic', 'remove_parent_epic', 'tag'],
  ...['board_move', 'create_merge_request', 'invite_email', 'promote', 'publish', 'zoom', 'remove_zoom'],
];

export const ISSUE_ACTION_PATTERN = patternOf([
  ...ISSUE_ACTIONS.flatMap(({ names }) => names),
  ...WITHOUT_EFFECT,
]);
