import * as p from '../../http/params.ts';

/** Group settings that both create and update accept. */
export const settingFields = () => ({
  membership_lock: p.boolean({ description: 'Prevent adding members directly to projects in the group' }),
  share_with_group_lock: p.boolean({
    description: 'Prevent sharing projects in the group with other groups',
  }),
  require_two_factor_authentication: p.boolean({
    description: 'Require all members to set up two-factor authentication',
  }),
  two_factor_grace_period: p.integer({
    min: 0,
    description: 'Hours until two-factor authentication is enforced',
  }),
  project_creation_level: p.oneOf(['noone', 'maintainer', 'developer'], {
    description: 'Minimum role required to create projects in the group',
  }),
  auto_devops_enabled: p.boolean({
    nullable: true,
    description: 'Enable Auto DevOps for all projects in the group',
  }),
  subgroup_creation_level: p.oneOf(['owner', 'maintainer'], {
    description: 'Minimum role required to create subgroups',
  }),
  emails_disabled: p.boolean({ nullable: true, description: 'Disable email notifications of the group' }),
  mentions_disabled: p.boolean({
    nullable: true,
    description: 'Disable notifications when the group is mentioned',
  }),
  lfs_enabled: p.boolean({ description: 'Enable Git LFS for all projects in the group' }),
  request_access_enabled: p.boolean({ description: 'Allow users to request access to the group' }),
  default_branch_protection: p.integer({
    values: [0, 1, 2, 3],
    description:
      'Protection of the default branch of new projects: 0 (none), 1 (Developers can push, but not force push or delete), 2 (only Maintainers can push and merge) or 3 (as 2, but Developers can merge)',
  }),
  shared_runners_minutes_limit: p.integer({
    nullable: true,
    min: 0,
    description: 'Maximum CI minutes per month on shared runners; 0 for unlimited',
  }),
  extra_shared_runners_minutes_limit: p.integer({
    nullable: true,
    min: 0,
    description: 'Additional CI minutes on shared runners',
  }),
});

/** Group settings that only update accepts. */
export const updateOnlyFields = () => ({
  shared_runners_setting: p.oneOf(['enabled', 'disabled_and_unoverridable', 'disabled_with_override'], {
    description: 'Shared runners in the group, and whether subgroups and projects can override the setting',
  }),
  prevent_sharing_groups_outside_hierarchy: p.boolean({
    description: 'Prevent sharing groups of this hierarchy with groups outside of it. Top-level groups only',
  }),
  file_template_project_id: p.integer({
    nullable: true,
    description: 'ID of the project to load custom file templates from',
  }),
});

const NAMES = new Set(Object.keys({ ...settingFields(), ...updateOnlyFields() }));

/** The settings among the parameters of a request. */
export const settingsOf = (body: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => NAMES.has(name)));
