/** The quick actions of merge requests. */

import type { MergeRequestAction } from './merge-request-action.ts';
import { CHANGE_ACTIONS } from './merge-request-fields.ts';
import { MERGING_ACTIONS } from './merge-request-merging.ts';
import { TRACKED_ACTIONS } from './of-tracked.ts';

export const MERGE_REQUEST_ACTIONS: readonly MergeRequestAction[] = [
  ...TRACKED_ACTIONS,
  ...CHANGE_ACTIONS,
  ...MERGING_ACTIONS,
];
