/** The quick actions that issues and merge requests share. */

import type { TrackedAction } from './tracked-action.ts';
import { ASSIGNMENT_ACTIONS, LABEL_ACTIONS } from './tracked-assignment.ts';
import { COPY_ACTIONS } from './tracked-copy.ts';
import { TRACKED_FIELD_ACTIONS } from './tracked-fields.ts';
import { TIME_ACTIONS } from './tracked-time.ts';
import { USER_ACTIONS } from './tracked-users.ts';

export const TRACKED_ACTIONS: readonly TrackedAction[] = [
  ...TRACKED_FIELD_ACTIONS,
  ...LABEL_ACTIONS,
  ...ASSIGNMENT_ACTIONS,
  ...TIME_ACTIONS,
  ...COPY_ACTIONS,
  ...USER_ACTIONS,
];
