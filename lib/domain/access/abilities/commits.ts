import { REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  comment_on_code: { level: REPORTER, reader: 'signed-in', writes: true, features: ['repository'] },
} as const satisfies ProjectRules;
