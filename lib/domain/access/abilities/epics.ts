import { GUEST, MAINTAINER, OWNER, REPORTER } from '../levels.ts';
import type { GroupRules } from './rules.ts';

/** Whoever reads a group reads its epics, but for confidential ones. */
export const group = {
  /** Their authors see them as well. */
  read_confidential_epics: { level: REPORTER, reader: 'nobody' },
  admin_epic: { level: REPORTER, reader: 'nobody' },
  /** Times of one's choice, and deletion. */
  own_epics: { level: OWNER, reader: 'nobody' },
  comment_on_epics: { level: GUEST, reader: 'signed-in' },
  /** Changing and deleting the notes of others. */
  moderate_epic_notes: { level: MAINTAINER, reader: 'nobody' },
} as const satisfies GroupRules;
