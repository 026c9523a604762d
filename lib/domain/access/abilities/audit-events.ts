import { DEVELOPER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

export const project = {
  /** At least the caller's own events. */
  read_audit_events: { level: DEVELOPER, reader: 'nobody' },
} as const satisfies ProjectRules;

export const group = {
  /** At least the caller's own events. */
  read_audit_events: { level: DEVELOPER, reader: 'nobody' },
} as const satisfies GroupRules;
