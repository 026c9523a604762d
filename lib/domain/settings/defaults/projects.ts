import type { Visibility } from '../../../records/visibility.ts';

/** Settings of projects. A name or its comment gives the unit. */
export const projects = {
  default_project_visibility: 'private' as Visibility,
  restricted_visibility_levels: [] as readonly Visibility[],
  default_projects_limit: 100_000,
  /** Whether only administrators can delete projects */
  default_project_deletion_protection: false,
  /** Default of new projects */
  shared_runners_enabled: true,
  default_ci_config_path: null as string | null,
};
