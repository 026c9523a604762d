import { DEVELOPER, MAINTAINER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['repository', 'builds'] as const;

export const project = {
  read_pipeline_schedules: { level: REPORTER, reader: 'signed-in', features },
  /** Developers change their own schedules, and start any. */
  create_pipeline_schedules: { level: DEVELOPER, reader: 'nobody', writes: true, features },
  admin_pipeline_schedules: { level: MAINTAINER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;
