/**
 * The names of all quick actions, whatever they are about. One that the object of a text does not have, or that is of a
 * feature that there is not, is taken out of the text and does nothing.
 */

import { patternOf } from './extract.ts';

export const ACTION_NAMES: readonly string[] = [
  // of issues and merge requests
  ...['title', 'close', 'reopen', 'lock', 'unlock', 'copy_metadata'],
  ...[
    'label',
    'labels',
    'unlabel',
    'remove_label',
    'remove_labels',
    'relabel',
    'milestone',
    'remove_milestone',
  ],
  ...['assign', 'reassign', 'unassign', 'remove_assignee'],
  ...['estimate', 'estimate_time', 'remove_estimate', 'remove_time_estimate'],
  ...['spend', 'spent', 'spend_time', 'remove_time_spent'],
  ...['todo', 'done', 'subscribe', 'unsubscribe', 'award', 'react'],
  // of issues
  ...['confidential', 'severity', 'promote_to_incident', 'promote', 'relate', 'duplicate', 'move', 'clone'],
  ...[
    'epic',
    'remove_epic',
    'iteration',
    'remove_iteration',
    'due',
    'remove_due_date',
    'weight',
    'clear_weight',
  ],
  ...['health_status', 'clear_health_status', 'create_merge_request', 'zoom', 'remove_zoom'],
  // of merge requests
  ...['approve', 'unapprove', 'merge', 'rebase', 'draft', 'wip', 'ready', 'target_branch'],
  ...[
    'assign_reviewer',
    'reviewer',
    'request_review',
    'reassign_reviewer',
    'unassign_reviewer',
    'remove_reviewer',
  ],
  // of other objects and features
  ...['submit_review', 'child_epic', 'remove_child_epic', 'parent_epic', 'remove_parent_epic', 'tag'],
  ...['board_move', 'invite_email', 'publish'],
];

export const ACTION_PATTERN = patternOf(ACTION_NAMES);
