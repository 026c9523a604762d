/** Getting, creating, updating and deleting accounts. */

import { maySeeProfile, userOfId } from '../../domain/accounts/accounts.ts';
import { attributesOfMany } from '../../domain/custom-attributes/custom-attributes.ts';
import { deleteUser } from '../../domain/deletion/user-deletion.ts';
import { highestRole } from '../../domain/members/members.ts';
import { withUserLookupLimit } from '../../domain/rate-limits/action-limits.ts';
import { changeAccount, removeIdentity } from '../../domain/users/change.ts';
import { isFollowed } from '../../domain/users/follows.ts';
import * as users from '../../domain/users/users.ts';
import { administrator, anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { avatarField } from '../avatars/avatar-field.ts';
import { endpoint } from '../endpoint.ts';
import { userAdmin, userPublic } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'users';
const idOfUser = () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) });
const NO_USER = { status: 404, description: 'The user does not exist' };

const get = endpoint({
  method: 'GET',
  path: '/users/:id',
  area,
  summary: 'Get a user',
  access: anyone(),
  scopes: ['read_user'],
  params: idOfUser,
  query: () =>
    p.params({
      with_custom_attributes: p.boolean({
        default: false,
        description: 'Include custom attributes; administrators only',
      }),
    }),
  returns: { body: shapes.userShown },
  errors: [
    { status: 403, description: 'The caller is not authenticated' },
    NO_USER,
    {
      status: 429,
      description: 'More requests in ten minutes than the setting `users_get_by_id_limit` allows',
    },
  ],
  handle: async ({ actor, params, query, request }, deps) => {
    const user = await withUserLookupLimit(deps, actor, () => users.getUser(deps, actor, params.id));
    const followed = { is_followed: (await isFollowed(deps, actor, user)) ?? false };
    if (!users.seesAll(actor))
      return { ...userPublic(user, request.baseUrl, maySeeProfile(actor, user)), ...followed };
    const attributes = query.with_custom_attributes
      ? await attributesOfMany(deps, actor, 'user', [user.id])
      : [];
    return {
      ...userAdmin(user, request.baseUrl),
      ...followed,
      ...(attributes?.[0] === undefined ? {} : { custom_attributes: attributes[0] }),
      highest_role: await highestRole(deps, user),
    };
  },
});

/** Attributes of the profile: stored with the user and returned, most without further effect. */
const profile = () => ({
  bio: p.string({ maxLength: 255, description: 'Biography' }),
  color_scheme_id: p.integer({ description: 'Color scheme for code, 1 to 6' }),
  extra_shared_runners_minutes_limit: p.integer({
    nullable: true,
    description: 'Additional CI minutes of the user',
  }),
  group_id_for_saml: p.integer({ description: 'Id of the group that SAML is configured for' }),
  job_title: p.string({ maxLength: 255, description: 'Job title' }),
  linkedin: p.string({ maxLength: 255, description: 'Name of the LinkedIn account' }),
  location: p.string({ maxLength: 255, description: 'Location' }),
  note: p.string({ maxLength: 10_000, description: 'Note about the user, visible to administrators only' }),
  organization: p.string({ maxLength: 255, description: 'Organization' }),
  pronouns: p.string({ maxLength: 50, description: 'Pronouns' }),
  shared_runners_minutes_limit: p.integer({
    nullable: true,
    description: 'CI minutes of the user; null: the default of the instance, 0: unlimited',
  }),
  skype: p.string({ maxLength: 255, description: 'Skype id' }),
  theme_id: p.integer({ description: 'Theme of the user interface, 1 to 11' }),
  twitter: p.string({ maxLength: 255, description: 'Name of the Twitter account' }),
  view_diffs_file_by_file: p.boolean({ description: 'Show one file of a diff per page' }),
  website_url: p.string({ maxLength: 255, description: 'URL of the website' }),
});

/** Parameters that must be email addresses of the user. */
const ownEmails = () => ({
  public_email: p.string({ maxLength: 320, description: 'Email address shown to everyone; empty for none' }),
  commit_email: p.string({
    maxLength: 320,
    description: 'Email address for commits made through the API; empty for the primary address',
  }),
});

const avatarAndIdentity = () => ({
  avatar: avatarField(),
  extern_uid: p.string({
    maxLength: 255,
    blank: false,
    description: 'Id of the user at the identity provider; requires `provider`',
  }),
  provider: p.string({
    maxLength: 255,
    blank: false,
    description: 'Name of the identity provider; requires `extern_uid`',
  }),
});

/** The parameters that belong to the profile. */
function profileOf(body: object): Record<string, unknown> {
  const names = [...Object.keys(profile()), ...Object.keys(ownEmails())];
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

const identityOf = ({ extern_uid, provider }: { extern_uid?: string; provider?: string }) =>
  extern_uid === undefined || provider === undefined ? undefined : { extern_uid, provider };

const create = endpoint({
  method: 'POST',
  path: '/users',
  area,
  summary: 'Create a user',
  access: administrator(),
  body: () =>
    p.params(
      {
        email: p.string({ required: true, description: 'Primary email address' }),
        name: p.string({ required: true, description: 'Name of the user' }),
        username: p.string({ required: true, description: 'Username' }),
        password: p.string({
          description: 'Password, 8 to 128 characters; the minimum is the setting `minimum_password_length`',
        }),
        reset_password: p.boolean({
          default: false,
          description: 'Send the user a link to choose a password',
        }),
        force_random_password: p.boolean({
          default: false,
          description: 'Set a random password that nobody knows',
        }),
        admin: p.boolean({ default: false, description: 'Whether the user is an administrator' }),
        can_create_group: p.boolean({ default: true, description: 'Whether the user can create groups' }),
        external: p.boolean({
          description: 'Whether the user is external; default: the setting `user_default_external`',
        }),
        private_profile: p.boolean({
          default: false,
          description: 'Whether the profile is private; null means false',
        }),
        projects_limit: p.integer({
          description: 'Number of projects the user can own; default: the setting `default_projects_limit`',
        }),
        skip_confirmation: p.boolean({
          default: false,
          description: 'Confirm the email address without sending a mail',
        }),
        ...profile(),
        ...avatarAndIdentity(),
      },
      [
        p.atLeastOneOf('password', 'reset_password', 'force_random_password'),
        p.allOrNoneOf('extern_uid', 'provider'),
      ],
    ),
  returns: { body: shapes.userAdmin },
  errors: [{ status: 409, description: 'The email address or username is already taken' }],
  handle: async ({ actor, body, request }, deps) => {
    const identity = identityOf(body);
    const identities = identity && [{ ...identity, saml_provider_id: null }];
    const user = await users.createUser(deps, actor, {
      email: body.email,
      name: body.name,
      username: body.username,
      password: body.password,
      resetPassword: body.reset_password,
      forceRandomPassword: body.force_random_password,
      admin: body.admin,
      external: body.external,
      privateProfile: body.private_profile,
      canCreateGroup: body.can_create_group,
      projectsLimit: body.projects_limit,
      skipConfirmation: body.skip_confirmation,
      avatar: body.avatar,
      profile: { ...profileOf(body), ...(identities && { identities }) },
      baseUrl: request.baseUrl,
    });
    return userAdmin(user, request.baseUrl);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/users/:id',
  area,
  summary: 'Update a user',
  description:
    'Attributes that are absent keep their value. After a change of username, projects in the personal namespace get the new path; the former path still leads to them.',
  access: administrator(),
  params: idOfUser,
  body: () =>
    p.params(
      {
        email: p.string({ description: 'Primary email address' }),
        skip_confirmation: p.boolean({
          default: false,
          description: 'Confirm a new email address without sending a mail; implies `skip_reconfirmation`',
        }),
        skip_reconfirmation: p.boolean({
          default: false,
          description:
            'Change the email address immediately; if false, after the user confirms the new address',
        }),
        name: p.string({ description: 'Name of the user' }),
        username: p.string({ description: 'Username' }),
        password: p.string({
          description: 'Password, 8 to 128 characters; the user must change it at the next sign-in',
        }),
        reset_password: p.boolean({
          default: false,
          description: 'Send the user a link to choose a password',
        }),
        force_random_password: p.boolean({
          default: false,
          description: 'Set a random password that nobody knows',
        }),
        admin: p.boolean({ description: 'Whether the user is an administrator' }),
        can_create_group: p.boolean({ description: 'Whether the user can create groups' }),
        external: p.boolean({ description: 'Whether the user is external' }),
        private_profile: p.boolean({
          nullable: true,
          description: 'Whether the profile is private; null means false',
        }),
        projects_limit: p.integer({ description: 'Number of projects the user can own' }),
        ...profile(),
        ...ownEmails(),
        ...avatarAndIdentity(),
      },
      [p.allOrNoneOf('extern_uid', 'provider')],
    ),
  returns: { body: shapes.userAdmin },
  errors: [NO_USER, { status: 409, description: 'The email address or username is already taken' }],
  handle: async ({ actor, params, body, request }, deps) => {
    const user = await changeAccount(deps, actor, params.id, {
      email: body.email,
      skipConfirmation: body.skip_confirmation,
      skipReconfirmation: body.skip_reconfirmation || body.skip_confirmation,
      name: body.name,
      username: body.username,
      password: body.password,
      resetPassword: body.reset_password,
      forceRandomPassword: body.force_random_password,
      admin: body.admin,
      external: body.external,
      privateProfile: 'private_profile' in body ? body.private_profile === true : undefined,
      canCreateGroup: body.can_create_group,
      projectsLimit: body.projects_limit,
      identity: identityOf(body),
      avatar: body.avatar,
      profile: profileOf(body),
      baseUrl: request.baseUrl,
    });
    return userAdmin(user, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/users/:id',
  area,
  summary: 'Delete a user',
  description:
    'The account is deleted immediately. In the background its data is deleted, and its contributions are moved to the ghost user.',
  access: administrator(),
  params: idOfUser,
  body: () =>
    p.params({
      hard_delete: p.boolean({
        default: false,
        description: 'Delete the contributions of the user, too, and groups that the user alone owns',
      }),
    }),
  returns: { status: 204 },
  errors: [NO_USER, { status: 409, description: 'The user is the only owner of a group' }],
  handle: async ({ actor, params, body, unmodifiedSince }, deps) => {
    const user = await userOfId(deps, params.id);
    unmodifiedSince(user.updatedAt);
    await deleteUser(deps, actor, user, { hard: body.hard_delete });
    return noContent();
  },
});

const dropIdentity = endpoint({
  method: 'DELETE',
  path: '/users/:id/identities/:provider',
  area,
  summary: 'Delete an identity of a user',
  access: administrator(),
  params: () =>
    p.params({
      id: p.routeInteger({ description: 'Id of the user' }),
      provider: p.string({ required: true, description: 'Name of the identity provider' }),
    }),
  returns: { status: 204 },
  errors: [{ status: 404, description: 'The user or identity does not exist' }],
  handle: async ({ actor, params }, deps) => {
    await removeIdentity(deps, actor, params.id, params.provider);
    return noContent();
  },
});

export const accountEndpoints = [get, create, update, remove, dropIdentity];
