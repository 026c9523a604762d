import { DEVELOPER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_pipelines: { level: REPORTER, reader: 'anyone', features: ['repository', 'builds'] },
  /** Statuses of commits, which external builds report. */
  report_statuses: { level: DEVELOPER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
} as const satisfies ProjectRules;
