import { REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  fork_project: { level: REPORTER, reader: 'signed-in', features: ['repository', 'forking'] },
} as const satisfies ProjectRules;
