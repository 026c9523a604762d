import { DEVELOPER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['repository', 'builds', 'operations'] as const;

/** Environments and deployments. */
export const project = {
  read_environments: { level: REPORTER, reader: 'signed-in', features },
  admin_environments: { level: DEVELOPER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;
