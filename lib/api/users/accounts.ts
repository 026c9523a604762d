/** Accounts: shown, made, changed and deleted. */

import { maySeeProfile, userOfId } from '../../domain/accounts/accounts.ts';
import { attributesOfMany } from '../../domain/custom-attributes/custom-attributes.ts';
import { deleteUser } from '../../domain/deletion/user-deletion.ts';
import { highestRole } from '../../domain/members/members.ts';
import { byId } from '../../domain/rate-limits/action-limits.ts';
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
const NO_USER = { status: 404, description: 'No such user' };

const get = endpoint({
  method: 'GET',
  path: '/users/:id',
  area,
  summary: 'Get a user',
  access: anyone(),
  scopes: ['read_user'],
  params: idOfUser,
  query: () => p.params({ with_custom_attributes: p.boolean({ default: false }) }),
  returns: { body: shapes.userShown },
  errors: [
    { status: 403, description: 'Anonymous' },
    NO_USER,
    { status: 429, description: 'More in ten minutes than the settings allow' },
  ],
  handle: async ({ actor, params, query, request }, deps) => {
    const user = await byId(deps, actor, () => users.getUser(deps, actor, params.id));
    const followed = { is_followed: (await isFollowed(deps, actor, user)) ?? false };
    if (!users.seesAll(actor))
      return { ...userPublic(user, request.baseUrl, maySeeProfile(actor, user)), ...followed };
    const noted = query.with_custom_attributes ? await attributesOfMany(deps, actor, 'user', [user.id]) : [];
    return {
      ...userAdmin(user, request.baseUrl),
      ...followed,
      ...(noted?.[0] === undefined ? {} : { custom_attributes: noted[0] }),
      highest_role: await highestRole(deps, user),
    };
  },
});

/** Attributes that are kept with the user and given back. */
const profile = () => ({
  bio: p.string({ maxLength: 255 }),
  color_scheme_id: p.integer({ description: '1 to 6' }),
  extra_shared_runners_minutes_limit: p.integer({ nullable: true }),
  group_id_for_saml: p.integer(),
  job_title: p.string({ maxLength: 255 }),
  linkedin: p.string({ maxLength: 255 }),
  location: p.string({ maxLength: 255 }),
  note: p.string({ maxLength: 10_000, description: 'For administrators' }),
  organization: p.string({ maxLength: 255 }),
  pronouns: p.string({ maxLength: 50 }),
  shared_runners_minutes_limit: p.integer({ nullable: true }),
  skype: p.string({ maxLength: 255 }),
  theme_id: p.integer({ description: '1 to 11' }),
  twitter: p.string({ maxLength: 255 }),
  view_diffs_file_by_file: p.boolean(),
  website_url: p.string({ maxLength: 255, description: 'Of the web' }),
});

/** Addresses of the user's own. */
const ownEmails = () => ({
  public_email: p.string({ maxLength: 320, description: 'Shown to all; empty for none' }),
  commit_email: p.string({ maxLength: 320, description: 'Of commits made here; empty for the first' }),
});

const others = () => ({
  avatar: avatarField(),
  extern_uid: p.string({ maxLength: 255, blank: false, description: 'Id at `provider`' }),
  provider: p.string({ maxLength: 255, blank: false, description: 'Identity provider' }),
});

/** What of the parameters belongs to the profile. */
function profileOf(body: object): Record<string, unknown> {
  const known = [...Object.keys(profile()), ...Object.keys(ownEmails())];
  return Object.fromEntries(Object.entries(body).filter(([name]) => known.includes(name)));
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
        email: p.string({ required: true }),
        name: p.string({ required: true }),
        username: p.string({ required: true }),
        password: p.string({ description: '8 to 128 characters' }),
        reset_password: p.boolean({ default: false, description: 'Send a link to choose a password' }),
        force_random_password: p.boolean({ default: false, description: 'Choose one nobody knows' }),
        admin: p.boolean({ default: false }),
        can_create_group: p.boolean({ default: true }),
        external: p.boolean({ description: "The instance's rule when absent" }),
        private_profile: p.boolean({ default: false, description: 'Null is false' }),
        projects_limit: p.integer({ description: "The instance's default when absent" }),
        skip_confirmation: p.boolean({ default: false }),
        ...profile(),
        ...others(),
      },
      [
        p.atLeastOneOf('password', 'reset_password', 'force_random_password'),
        p.allOrNoneOf('extern_uid', 'provider'),
      ],
    ),
  returns: { body: shapes.userAdmin },
  errors: [{ status: 409, description: 'E-mail or username already taken' }],
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
  summary: 'Change a user',
  description:
    'What is absent stays. Projects in the personal namespace follow another username, and are found below both.',
  access: administrator(),
  params: idOfUser,
  body: () =>
    p.params(
      {
        email: p.string(),
        skip_confirmation: p.boolean({ default: false, description: 'The e-mail counts as confirmed' }),
        skip_reconfirmation: p.boolean({
          default: false,
          description: 'Take the e-mail at once; else when the link sent there is opened',
        }),
        name: p.string(),
        username: p.string(),
        password: p.string({ description: '8 to 128 characters; to be replaced at the next sign-in' }),
        reset_password: p.boolean({ default: false, description: 'Send a link to choose a password' }),
        force_random_password: p.boolean({ default: false, description: 'Choose one nobody knows' }),
        admin: p.boolean(),
        can_create_group: p.boolean(),
        external: p.boolean(),
        private_profile: p.boolean({ nullable: true, description: 'Null is false' }),
        projects_limit: p.integer(),
        ...profile(),
        ...ownEmails(),
        ...others(),
      },
      [p.allOrNoneOf('extern_uid', 'provider')],
    ),
  returns: { body: shapes.userAdmin },
  errors: [NO_USER, { status: 409, description: 'E-mail or username already taken' }],
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
    'The account is gone at once; what belonged to it is taken away, and what it wrote given to the ghost, afterwards.',
  access: administrator(),
  params: idOfUser,
  body: () =>
    p.params({
      hard_delete: p.boolean({
        default: false,
        description: 'Delete what it wrote too, and groups that nobody else owns',
      }),
    }),
  returns: { status: 204 },
  errors: [NO_USER, { status: 409, description: 'The only owner of a group' }],
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
  summary: "Forget a user's identity at a provider",
  access: administrator(),
  params: idOfUser,
  returns: { status: 204 },
  errors: [{ status: 404, description: 'No such user or identity' }],
  handle: async ({ actor, params }, deps) => {
    await removeIdentity(deps, actor, params.id, params.provider);
    return noContent();
  },
});

export const accountEndpoints = [get, create, update, remove, dropIdentity];
