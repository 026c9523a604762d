import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { customAttributesShown } from '../custom-attributes/shapes.ts';
import { projectShown, sharedWithGroup, storageSizes } from '../projects/shapes.ts';
import { time } from '../users/shapes.ts';

const given = <T extends z.ZodType>(type: T) => type.optional().describe('Only when it was set');

const fields = () => ({
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  path: z.string(),
  description: z.string(),
  visibility: z.enum(['private', 'internal', 'public']),
  share_with_group_lock: z.boolean(),
  require_two_factor_authentication: z.boolean(),
  two_factor_grace_period: z.int().describe('Hours'),
  project_creation_level: z.enum(['noone', 'maintainer', 'developer']),
  auto_devops_enabled: z.boolean().nullable(),
  subgroup_creation_level: z.enum(['owner', 'maintainer']),
  emails_disabled: z.boolean().nullable(),
  mentions_disabled: z.boolean().nullable(),
  lfs_enabled: z.boolean(),
  default_branch_protection: z.int(),
  avatar_url: z.string().nullable(),
  request_access_enabled: z.boolean(),
  full_name: z.string(),
  full_path: z.string(),
  created_at: time(),
  parent_id: z.int().nullable(),
  marked_for_deletion_on: z.iso.date().nullable().describe('The day somebody asked for its deletion'),
  membership_lock: given(z.boolean()),
  shared_runners_minutes_limit: given(z.int().nullable()),
  extra_shared_runners_minutes_limit: given(z.int().nullable()),
  shared_runners_setting: given(z.string()),
  file_template_project_id: given(z.int().nullable()),
  custom_attributes: customAttributesShown(),
});

export const group = shape(() =>
  z
    .object({
      ...fields(),
      statistics: z
        .object(storageSizes())
        .optional()
        .describe('When an administrator asks: of the projects directly inside'),
    })
    .meta({ id: 'Group' }),
);

export const groupDetail = shape(() =>
  z
    .object({
      ...fields(),
      shared_with_groups: z.array(sharedWithGroup()),
      runners_token: z.string().optional().describe('For its owners'),
      prevent_sharing_groups_outside_hierarchy: z.boolean().optional().describe('Of outermost groups'),
      projects: z.array(projectShown()).optional().describe('The newest hundred directly inside'),
      shared_projects: z.array(projectShown()).optional().describe('A hundred the group was invited to'),
    })
    .meta({ id: 'GroupDetail' }),
);

export const groups = shape(() => z.array(group()));
