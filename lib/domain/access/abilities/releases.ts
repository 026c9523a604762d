import { DEVELOPER, GUEST } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['repository'] as const;

export const project = {
  /** Without what the repository tells: Guests see notes and files of releases, but no tags. */
  read_release: { level: GUEST, reader: 'anyone', features },
  admin_release: { level: DEVELOPER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;
