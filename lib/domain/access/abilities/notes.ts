import { GUEST, MAINTAINER, OWNER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  comment_on_issues: { level: GUEST, reader: 'signed-in', writes: true, features: ['issues'] },
  /** Changing and deleting the notes of others. */
  moderate_notes: { level: MAINTAINER, reader: 'nobody', writes: true },
  /** Choosing the time of a new note. */
  backdate_notes: { level: OWNER, reader: 'nobody', writes: true },
} as const satisfies ProjectRules;
