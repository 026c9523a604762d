import { DEVELOPER, GUEST, MAINTAINER, OWNER } from '../levels.ts';
import type { GroupRules } from './rules.ts';

export const group = {
  read_group: { level: GUEST, reader: 'anyone' },
  create_projects: {
    level: MAINTAINER,
    reader: 'nobody',
    creation: {
      setting: 'project_creation_level',
      levels: { noone: 61, maintainer: MAINTAINER, developer: DEVELOPER },
    },
  },
  create_subgroup: {
    level: OWNER,
    reader: 'nobody',
    creation: { setting: 'subgroup_creation_level', levels: { owner: OWNER, maintainer: MAINTAINER } },
  },
  admin_group: { level: OWNER, reader: 'nobody' },
  remove_group: { level: OWNER, reader: 'nobody' },
} as const satisfies GroupRules;
