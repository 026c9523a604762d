import type { Visibility } from '../../../records/visibility.ts';

/** Settings of groups. A name or its comment gives the unit. */
export const groups = {
  default_group_visibility: 'private' as Visibility,
  /** 0: no one, 1: maintainers, 2: developers and maintainers */
  default_project_creation: 2 as 0 | 1 | 2,
};
