import { highestRole } from '../../domain/members.ts';
import * as users from '../../domain/users.ts';
import { administrator, anyone, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { UserRecord } from '../../store/records.ts';
import { counted, endpoint } from '../endpoint.ts';
import { userAdmin, userBasic, userPublic, userSelf } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'users';
const onlyTrue = (description: string) => p.oneOf(['true'], { description });

const current = endpoint({
  method: 'GET',
  path: '/user',
  area,
  summary: 'Get the signed-in user',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.userSelf },
  handle: ({ actor, request }) => userSelf(actor.user, request.baseUrl),
});

const list = endpoint({
  method: 'GET',
  path: '/users',
  area,
  summary: 'List users',
  access: anyone(),
  scopes: ['read_user'],
  query: () =>
    p.params(
      {
        search: p.string({ description: 'Part of a name or username, or a whole e-mail address' }),
        username: p.string({ description: 'A whole username, without case' }),
        active: onlyTrue('Only active users'),
        blocked: onlyTrue('Only blocked users'),
        external: onlyTrue('Only external users'),
        exclude_internal: onlyTrue('Leave out users that the service made for itself'),
        exclude_external: onlyTrue('Leave out external users'),
        extern_uid: p.string({ description: 'Id at the provider; administrators' }),
        provider: p.string({ description: 'Identity provider; administrators' }),
        created_before: p.datetime({ description: 'Administrators' }),
        created_after: p.datetime({ description: 'Administrators' }),
        without_projects: p.boolean({ default: false, description: 'Administrators' }),
        custom_attributes: p.hash({ description: 'Only users with these attributes' }),
        with_custom_attributes: p.boolean({ default: false }),
        order_by: p.oneOf(['id', 'name', 'username', 'created_at', 'updated_at'], {
          default: 'id',
          description: 'Administrators',
        }),
        sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Administrators' }),
        two_factor: p.oneOf(['enabled', 'disabled'], { description: 'Administrators' }),
        admins: p.boolean({ default: false, description: 'Only administrators; for administrators' }),
        saml_provider_id: p.integer({ description: 'Only users of this provider; administrators' }),
      },
      [p.allOrNoneOf('extern_uid', 'provider')],
    ),
  returns: { body: shapes.usersListed },
  paginate: 'offset',
  errors: [{ status: 403, description: 'Anonymous without `username`' }],
  handle: async ({ actor, query, page, request }, deps) => {
    const privileged = users.seesAll(actor);
    if (query.extern_uid !== undefined) users.demandIdentitySearch(actor);
    const states = statesOf(query);
    const found = await users.listUsers(deps, actor, {
      ...counted(page),
      ...(query.search === undefined ? {} : { search: query.search }),
      ...(query.username === undefined ? {} : { username: query.username }),
      ...(states === undefined ? {} : { states }),
      ...(privileged ? { order: query.order_by, direction: query.sort } : {}),
      ...filterOf(query, privileged),
    });
    const view = privileged ? userAdmin : userBasic;
    return { ...found, items: found.items.map((user) => view(user, request.baseUrl)) };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/users/:id',
  area,
  summary: 'Get a user',
  access: anyone(),
  scopes: ['read_user'],
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) }),
  query: () => p.params({ with_custom_attributes: p.boolean({ default: false }) }),
  returns: { body: shapes.userShown },
  errors: [
    { status: 403, description: 'Anonymous' },
    { status: 404, description: 'No such user' },
  ],
  handle: async ({ actor, params, request }, deps) => {
    const user = await users.getUser(deps, actor, params.id);
    if (users.seesAll(actor)) {
      return { ...userAdmin(user, request.baseUrl), highest_role: await highestRole(deps, user) };
    }
    return userPublic(user, request.baseUrl);
  },
});

/** Attributes that are kept with the user and given back; no rule reads them. */
const profile = () => ({
  avatar: p.file({ description: 'Image' }),
  bio: p.string({ maxLength: 255 }),
  color_scheme_id: p.integer(),
  extern_uid: p.string({ maxLength: 255, description: 'Id at `provider`' }),
  extra_shared_runners_minutes_limit: p.integer({ nullable: true }),
  group_id_for_saml: p.integer(),
  linkedin: p.string({ maxLength: 255 }),
  location: p.string({ maxLength: 255 }),
  note: p.string({ maxLength: 10_000, description: 'For administrators' }),
  organization: p.string({ maxLength: 255 }),
  provider: p.string({ maxLength: 255, description: 'Identity provider' }),
  shared_runners_minutes_limit: p.integer({ nullable: true }),
  skype: p.string({ maxLength: 255 }),
  theme_id: p.integer(),
  twitter: p.string({ maxLength: 255 }),
  view_diffs_file_by_file: p.boolean(),
  website_url: p.string({ maxLength: 255 }),
});

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
        external: p.boolean({ default: false }),
        private_profile: p.boolean({ default: false, description: 'Null is false' }),
        projects_limit: p.integer({ default: users.DEFAULT_PROJECTS_LIMIT }),
        skip_confirmation: p.boolean({ default: false }),
        ...profile(),
      },
      [
        p.atLeastOneOf('password', 'reset_password', 'force_random_password'),
        p.allOrNoneOf('extern_uid', 'provider'),
      ],
    ),
  returns: { body: shapes.userAdmin },
  errors: [{ status: 409, description: 'E-mail or username already taken' }],
  handle: async ({ body, request }, deps) => {
    const known = Object.keys(profile());
    const kept = Object.entries(body).filter(([name]) => known.includes(name) && name !== 'avatar');
    const { extern_uid, provider, ...plain } = Object.fromEntries(kept);
    const identities = extern_uid === undefined ? [] : [{ provider, extern_uid, saml_provider_id: null }];
    const user = await users.createUser(deps, {
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
      profile: identities.length === 0 ? plain : { ...plain, identities },
    });
    return userAdmin(user, request.baseUrl);
  },
});

export const userEndpoints = [current, list, get, create];

interface Filters {
  readonly active?: 'true';
  readonly blocked?: 'true';
  readonly external?: 'true';
  readonly exclude_external?: 'true';
  readonly extern_uid?: string;
  readonly provider?: string;
  readonly created_before?: Date;
  readonly created_after?: Date;
  readonly without_projects?: boolean;
  readonly custom_attributes?: Record<string, unknown>;
  readonly two_factor?: 'enabled' | 'disabled';
  readonly admins?: boolean;
  readonly saml_provider_id?: number;
}

/** `active` and `blocked` together name nobody; each alone its state. */
function statesOf(query: Filters): UserRecord['state'][] | undefined {
  if (query.active === undefined && query.blocked === undefined) return undefined;
  if (query.active !== undefined && query.blocked !== undefined) return [];
  return query.active !== undefined ? ['active'] : ['blocked'];
}

/** One condition over the record from all filters; those for administrators are ignored from others. */
function filterOf(query: Filters, privileged: boolean): { where?: (user: UserRecord) => boolean } {
  const conditions: ((user: UserRecord) => boolean)[] = [];
  if (query.external !== undefined) conditions.push((user) => user.external);
  if (query.exclude_external !== undefined) conditions.push((user) => !user.external);
  // Nobody has attributes, second factors or SAML yet: asking for them finds nobody.
  if (query.custom_attributes !== undefined) conditions.push(() => false);
  if (privileged) {
    const { created_before: before, created_after: after, extern_uid: uid, provider } = query;
    if (before !== undefined) conditions.push((user) => user.createdAt <= before.toISOString());
    if (after !== undefined) conditions.push((user) => user.createdAt >= after.toISOString());
    if (query.without_projects === true) conditions.push((user) => user.projectsCount === 0);
    if (query.admins === true) conditions.push((user) => user.admin);
    if (query.two_factor === 'enabled' || query.saml_provider_id !== undefined) conditions.push(() => false);
    if (uid !== undefined)
      conditions.push((user) =>
        identitiesOf(user).some((i) => i.extern_uid === uid && i.provider === provider),
      );
  }
  return conditions.length === 0 ? {} : { where: (user) => conditions.every((passes) => passes(user)) };
}

function identitiesOf(user: UserRecord): readonly { provider?: unknown; extern_uid?: unknown }[] {
  const identities = user.profile['identities'];
  return Array.isArray(identities) ? identities : [];
}
