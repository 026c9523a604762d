import { DEVELOPER, MAINTAINER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['operations'] as const;

export const project = {
  /** Its settings, and the keys with which programs send errors. */
  admin_error_tracking: { level: MAINTAINER, reader: 'nobody', writes: true },
  read_tracked_errors: { level: REPORTER, reader: 'nobody', features },
  /** Resolving and ignoring them. */
  update_tracked_errors: { level: DEVELOPER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;
