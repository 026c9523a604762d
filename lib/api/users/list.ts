import type { Actor } from '../../domain/actor.ts';
import { attributesOfMany, wantedAttributes } from '../../domain/custom-attributes/custom-attributes.ts';
import { samlIdentityOf } from '../../domain/scim/group-identities.ts';
import * as users from '../../domain/users/users.ts';
import { anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { UserRecord } from '../../records/users.ts';
import { counted, endpoint } from '../endpoint.ts';
import { userAdmin, userBasic } from './present.ts';
import * as shapes from './shapes.ts';

const onlyTrue = (description: string) => p.oneOf(['true'], { description });

export const list = endpoint({
  method: 'GET',
  path: '/users',
  area: 'users',
  summary: 'List users',
  access: anyone(),
  scopes: ['read_user'],
  query: () =>
    p.params(
      {
        search: p.string({
          description:
            'Part of a name or username, or a whole e-mail address: one shown to all; for administrators, any',
        }),
        username: p.string({ description: 'A whole username, without case' }),
        active: onlyTrue('Only active users'),
        blocked: onlyTrue('Only blocked users'),
        external: onlyTrue('Only external users'),
        exclude_internal: onlyTrue('Leave out users that the service made for itself'),
        without_project_bots: onlyTrue('Leave out users that access tokens of projects and groups act as'),
        skip_ldap: onlyTrue('Leave out users of LDAP: there are none'),
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
    // Nobody has a second factor yet.
    const none = query.two_factor === 'enabled';
    const states = statesOf(query);
    if ((privileged && none) || states?.length === 0) return { items: [], total: 0, more: false };
    const found = await users.listUsers(deps, actor, {
      ...counted(page),
      ...(query.search === undefined ? {} : { search: query.search }),
      ...(query.username === undefined ? {} : { username: query.username }),
      ...(states === undefined ? {} : { states }),
      ...(privileged ? { anyEmail: true, order: query.order_by, direction: query.sort } : {}),
      // The ghost is active, and nobody.
      service: query.exclude_internal === undefined && query.active === undefined,
      ...identityOf(query),
      ...attributesOf(actor, query),
      ...filterOf(query, privileged),
    });
    const view = privileged ? userAdmin : userBasic;
    const ids = found.items.map(({ id }) => id);
    const noted = query.with_custom_attributes ? await attributesOfMany(deps, actor, 'user', ids) : undefined;
    const items = found.items.map((user, i) => ({
      ...view(user, request.baseUrl),
      ...(noted === undefined ? {} : { custom_attributes: noted[i] }),
    }));
    return { ...found, items };
  },
});

interface Filters {
  readonly active?: 'true';
  readonly blocked?: 'true';
  readonly external?: 'true';
  readonly exclude_external?: 'true';
  readonly without_project_bots?: 'true';
  readonly extern_uid?: string;
  readonly provider?: string;
  readonly saml_provider_id?: number;
  readonly created_before?: Date;
  readonly created_after?: Date;
  readonly without_projects?: boolean;
  readonly custom_attributes?: Record<string, unknown>;
  readonly admins?: boolean;
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
  if (query.without_project_bots !== undefined) conditions.push((user) => user.type !== 'project_bot');
  if (privileged) {
    const { created_before: before, created_after: after } = query;
    if (before !== undefined) conditions.push((user) => user.createdAt <= before.toISOString());
    if (after !== undefined) conditions.push((user) => user.createdAt >= after.toISOString());
    if (query.without_projects === true) conditions.push((user) => user.projectsCount === 0);
    if (query.admins === true) conditions.push((user) => user.admin);
    const provider = query.saml_provider_id;
    if (provider !== undefined) conditions.push((user) => samlIdentityOf(user, provider) !== undefined);
  }
  return conditions.length === 0 ? {} : { where: (user) => conditions.every((passes) => passes(user)) };
}

function attributesOf(actor: Actor, query: Filters) {
  const attributes = wantedAttributes(actor, query.custom_attributes);
  return attributes === undefined ? {} : { attributes };
}

const identityOf = ({ extern_uid, provider, saml_provider_id }: Filters) =>
  extern_uid === undefined || provider === undefined
    ? {}
    : { identity: { extern_uid, provider, saml_provider_id: saml_provider_id ?? null } };
