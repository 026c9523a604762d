import { REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_statistics: { level: REPORTER, reader: 'nobody' },
} as const satisfies ProjectRules;
