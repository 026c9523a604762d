import { DEVELOPER, MAINTAINER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  /** Its settings, and the keys with which programs send errors. */
  admin_error_tracking: { level: MAINTAINER, reader: 'nobody', writes: true },
  read_tracked_errors: { level: REPORTER, reader: 'nobody' },
  /** Resolving and ignoring them. */
  update_tracked_errors: { level: DEVELOPER, reader: 'nobody', writes: true },
} as const satisfies ProjectRules;
