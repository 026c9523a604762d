import { DEVELOPER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_branch_rules: { level: DEVELOPER, reader: 'nobody' },
} as const satisfies ProjectRules;
