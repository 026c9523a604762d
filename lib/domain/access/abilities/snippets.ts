import { GUEST, MAINTAINER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['snippets'] as const;

export const project = {
  /** Public ones, and those of one's own; signed-in users who are not external also internal ones. */
  read_snippets: { level: GUEST, reader: 'anyone', features },
  /** Internal and private ones, whoever one is. */
  read_private_snippets: { level: GUEST, reader: 'nobody', features },
  /** Also changing and deleting one's own. */
  create_snippet: { level: REPORTER, reader: 'nobody', writes: true, features },
  /** Changing and deleting those of others. */
  moderate_snippets: { level: MAINTAINER, reader: 'nobody', writes: true, features },
  comment_on_snippets: { level: GUEST, reader: 'signed-in', writes: true, features },
} as const satisfies ProjectRules;
