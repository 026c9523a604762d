import { DEVELOPER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_code: { level: REPORTER, reader: 'anyone', features: ['repository'] },
  /** Code as branches and commits: 404 where the repository is switched off. */
  read_history: { level: REPORTER, reader: 'anyone', features: ['repository'] },
  push_code: { level: DEVELOPER, reader: 'nobody', writes: true, features: ['repository'] },
} as const satisfies ProjectRules;
