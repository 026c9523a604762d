import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { customAttributesShown } from '../custom-attributes/shapes.ts';
import { projectShown, sharedWithGroup, storageSizes } from '../projects/shapes.ts';
import { time } from '../users/shapes.ts';

const ifSet = <T extends z.ZodType>(type: T) => type.optional().describe('Present only if it was set');

const fields = () => ({
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  path: z.string(),
  description: z.string(),
  visibility: z.enum(['private', 'internal', 'public']),
  share_with_group_lock: z.boolean(),
  require_two_factor_authentication: z.boolean(),
  two_factor_grace_period: z.int().describe('Hours until two-factor authentication is enforced'),
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
  marked_for_deletion_on: z.iso
    .date()
    .nullable()
    .describe('Day on which the group was marked for deletion; null if it is not'),
  membership_lock: ifSet(z.boolean()),
  shared_runners_minutes_limit: ifSet(z.int().nullable()),
  extra_shared_runners_minutes_limit: ifSet(z.int().nullable()),
  shared_runners_setting: ifSet(z.string()),
  file_template_project_id: z.int().nullable(),
  custom_attributes: customAttributesShown(),
});

export const group = shape(() =>
  z
    .object({
      ...fields(),
      statistics: z
        .object(storageSizes())
        .optional()
        .describe(
          'Storage statistics of the projects directly in the group; only for administrators, and only with `statistics=true`',
        ),
    })
    .meta({ id: 'Group' }),
);

export const groupDetail = shape(() =>
  z
    .object({
      ...fields(),
      shared_with_groups: z.array(sharedWithGroup()),
      runners_token: z.string().optional().describe('Runner registration token; only for owners'),
      prevent_sharing_groups_outside_hierarchy: z
        .boolean()
        .optional()
        .describe('Present only for top-level groups'),
      projects: z.array(projectShown()).optional().describe('The 100 newest projects directly in the group'),
      shared_projects: z
        .array(projectShown())
        .optional()
        .describe('At most 100 projects that are shared with the group'),
    })
    .meta({ id: 'GroupDetail' }),
);

export const groups = shape(() => z.array(group()));
