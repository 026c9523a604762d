import type { AuditedSettings } from './types.ts';

export const groups: AuditedSettings = {
  groups: {
    prevent_sharing_groups_outside_hierarchy: false,
    project_creation_level: 'developer',
    share_with_group_lock: false,
    subgroup_creation_level: 'maintainer',
  },
  projects: {},
};
