import { DEVELOPER, MAINTAINER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_package: { level: REPORTER, reader: 'anyone' },
  create_package: { level: DEVELOPER, reader: 'nobody', writes: true },
  destroy_package: { level: MAINTAINER, reader: 'nobody', writes: true },
} as const satisfies ProjectRules;
