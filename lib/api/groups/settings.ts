import * as p from '../../http/params.ts';

/** Settings that are validated, stored and returned; shared by creation and update. */
export const settingFields = () => ({
  membership_lock: p.boolean({ description: 'No direct members of projects inside' }),
  share_with_group_lock: p.boolean({ description: 'No sharing of projects inside' }),
  require_two_factor_authentication: p.boolean(),
  two_factor_grace_period: p.integer({ min: 0, description: 'Hours' }),
  project_creation_level: p.oneOf(['noone', 'maintainer', 'developer'], {
    description: 'Who may create projects in it',
  }),
  auto_devops_enabled: p.boolean({ nullable: true }),
  subgroup_creation_level: p.oneOf(['owner', 'maintainer'], { description: 'Who may create groups in it' }),
  emails_disabled: p.boolean({ nullable: true }),
  mentions_disabled: p.boolean({ nullable: true }),
  lfs_enabled: p.boolean(),
  request_access_enabled: p.boolean(),
  default_branch_protection: p.integer({ values: [0, 1, 2, 3] }),
  shared_runners_minutes_limit: p.integer({ nullable: true, min: 0 }),
  extra_shared_runners_minutes_limit: p.integer({ nullable: true, min: 0 }),
});

/** What only an update may set. */
export const laterFields = () => ({
  shared_runners_setting: p.oneOf(['enabled', 'disabled_and_unoverridable', 'disabled_with_override']),
  prevent_sharing_groups_outside_hierarchy: p.boolean({ description: 'Of outermost groups' }),
  file_template_project_id: p.integer({ nullable: true }),
});

const NAMES = new Set(Object.keys({ ...settingFields(), ...laterFields() }));

/** What is stored: the settings that were given. */
export const settingsOf = (body: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => NAMES.has(name)));
