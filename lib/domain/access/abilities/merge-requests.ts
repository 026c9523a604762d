import { REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  /** Of projects whose code one may read. */
  read_merge_requests: { level: REPORTER, reader: 'anyone', features: ['merge_requests', 'repository'] },
} as const satisfies ProjectRules;
