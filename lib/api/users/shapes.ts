import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { USER_STATES } from '../../records/users.ts';
import { customAttributesShown } from '../custom-attributes/shapes.ts';

export const time = () => z.iso.datetime({ offset: true });
export const day = () => z.iso.date();

export const basicFields = () => ({
  id: z.int(),
  username: z.string(),
  name: z.string(),
  state: z.enum(USER_STATES),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
});

export const userBasic = shape(() => z.object(basicFields()).meta({ id: 'UserBasic' }));

const publicFields = () => ({
  ...basicFields(),
  created_at: time().optional().describe('Absent for private profiles'),
  bio: z.string(),
  bot: z.boolean(),
  location: z.string().nullable(),
  public_email: z.string().nullable(),
  skype: z.string(),
  linkedin: z.string(),
  twitter: z.string(),
  website_url: z.string(),
  organization: z.string().nullable(),
  job_title: z.string(),
  pronouns: z.string().nullable(),
  work_information: z.string().nullable(),
  followers: z.int().optional(),
  following: z.int().optional(),
  is_followed: z.boolean().optional().describe('Whether you follow the user; present for a single user only'),
});

const identity = () =>
  z.object({ provider: z.string(), extern_uid: z.string(), saml_provider_id: z.int().nullable() });

const selfFields = () => ({
  ...publicFields(),
  last_sign_in_at: time().nullable(),
  confirmed_at: time().nullable(),
  last_activity_on: day().nullable(),
  email: z.string(),
  theme_id: z.int(),
  color_scheme_id: z.int(),
  projects_limit: z.int(),
  current_sign_in_at: time().nullable(),
  identities: z.array(identity()),
  can_create_group: z.boolean(),
  can_create_project: z.boolean(),
  two_factor_enabled: z.boolean(),
  external: z.boolean(),
  private_profile: z.boolean(),
  commit_email: z.string(),
  is_admin: z.boolean().optional().describe('Shown to administrators only'),
  note: z.string().nullable().optional().describe('Shown to administrators only'),
  custom_attributes: customAttributesShown(),
});

export const userSelf = shape(() => z.object(selfFields()).meta({ id: 'UserSelf' }));

const adminFields = () => ({
  ...selfFields(),
  namespace_id: z.int(),
  current_sign_in_ip: z.string().nullable(),
  last_sign_in_ip: z.string().nullable(),
  plan: z.string().nullable(),
  provisioned_by_group_id: z.int().nullable(),
  trial: z.boolean().nullable(),
  sign_in_count: z.int(),
  using_license_seat: z.boolean(),
  is_auditor: z.boolean(),
  shared_runners_minutes_limit: z.int().nullable(),
  extra_shared_runners_minutes_limit: z.int().nullable(),
  highest_role: z
    .int()
    .optional()
    .describe('Highest access level in any membership; present for a single user only'),
});

export const userAdmin = shape(() => z.object(adminFields()).meta({ id: 'UserAdmin' }));
const userPublic = shape(() => z.object(publicFields()).meta({ id: 'UserPublic' }));

/** One user: the public form, or the full one for administrators. */
export const userShown = shape(() => z.union([userAdmin(), userPublic()]));
export const usersBasic = shape(() => z.array(userBasic()));
export const usersListed = shape(() => z.array(z.union([userAdmin(), userBasic()])));

export const member = shape(() =>
  z
    .object({
      ...basicFields(),
      email: z.string().optional().describe('Public email address; absent when the user has none'),
      access_level: z.int(),
      created_at: time(),
      expires_at: day().nullable(),
      group_saml_identity: identity()
        .nullable()
        .optional()
        .describe('Shown to group owners if single sign-on is enabled'),
    })
    .meta({ id: 'Member' }),
);
export const members = shape(() => z.array(member()));
export const memberAdded = shape(() =>
  z.union([
    member(),
    z.object({
      status: z.enum(['success', 'error']),
      message: z
        .union([z.string(), z.record(z.string(), z.string())])
        .optional()
        .describe('Reasons for the failures, by username'),
    }),
  ]),
);

export const changedOrNull = shape(() =>
  z
    .literal(true)
    .nullable()
    .describe('true if the state changed; null if the user was already in this state, or in a stronger one'),
);
export const changed = shape(() =>
  z.boolean().describe('Whether the state changed; false if the user was already in the new state'),
);
export const success = shape(() => z.object({ message: z.literal('Success') }));

export const status = shape(() =>
  z
    .object({
      emoji: z.string().nullable(),
      message: z.string().nullable(),
      availability: z.enum(['not_set', 'busy']).nullable(),
      message_html: z.string().nullable(),
      clear_status_at: time().nullable(),
    })
    .partial()
    .meta({ id: 'UserStatus', description: 'Empty if the user has no status' }),
);

export const preferences = shape(() =>
  z.object({
    id: z.int(),
    user_id: z.int(),
    view_diffs_file_by_file: z.boolean(),
    show_whitespace_in_diffs: z.boolean(),
  }),
);

export const avatar = shape(() => z.object({ avatar_url: z.string().nullable() }).meta({ id: 'OwnAvatar' }));

export const associations = shape(() =>
  z
    .object({
      groups_count: z.int(),
      projects_count: z.int(),
      issues_count: z.int(),
      merge_requests_count: z.int(),
    })
    .meta({ id: 'UserAssociations' }),
);

export const counts = shape(() =>
  z.object({
    merge_requests: z.int(),
    assigned_issues: z.int(),
    assigned_merge_requests: z.int(),
    review_requested_merge_requests: z.int(),
    todos: z.int(),
  }),
);

export const activities = shape(() =>
  z.array(
    z.object({
      username: z.string(),
      last_activity_on: day().nullable(),
      last_activity_at: z.string().nullable(),
    }),
  ),
);

export const memberships = shape(() =>
  z.array(
    z.object({
      source_id: z.int(),
      source_name: z.string(),
      source_type: z.enum(['Project', 'Namespace']),
      access_level: z.int(),
    }),
  ),
);
