import { DEVELOPER, GUEST, MAINTAINER } from '../levels.ts';
import type { GroupRules, ProjectRules } from './rules.ts';

const features = ['wiki'] as const;

export const project = {
  read_wiki: { level: GUEST, reader: 'anyone', features },
  /** Through Git also the deletion of pages. */
  write_wiki: { level: DEVELOPER, reader: 'nobody', writes: true, features },
  delete_wiki_page: { level: MAINTAINER, reader: 'nobody', writes: true, features },
} as const satisfies ProjectRules;

export const group = {
  read_wiki: { level: GUEST, reader: 'anyone' },
  write_wiki: { level: DEVELOPER, reader: 'nobody' },
  delete_wiki_page: { level: MAINTAINER, reader: 'nobody' },
} as const satisfies GroupRules;
