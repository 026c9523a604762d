import type { Actor } from '../../domain/actor.ts';
import { attributeFilter, attributesOfMany } from '../../domain/custom-attributes/custom-attributes.ts';
import { samlIdentityOf } from '../../domain/scim/group-identities.ts';
import * as users from '../../domain/users/users.ts';
import { anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { USER_STATES, type UserRecord } from '../../records/users.ts';
import { counted, endpoint } from '../endpoint.ts';
import { userAdmin, userBasic } from './present.ts';
import * as shapes from './shapes.ts';

/** False is no filter, as absence is. */
const onlyIf = (description: string) => p.boolean({ default: false, description });

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
            'Part of a name or username, or a complete email address: the public one, or any for administrators',
        }),
        username: p.string({ description: 'Return only the user with this username, case-insensitive' }),
        active: onlyIf('Return only active users'),
        blocked: onlyIf('Return only blocked users'),
        external: onlyIf('Return only external users'),
        humans: onlyIf('Return only users who are neither bots nor internal users of the service'),
        exclude_active: onlyIf('Leave out active users'),
        exclude_external: onlyIf('Leave out external users'),
        exclude_humans: onlyIf('Return only bots and internal users of the service'),
        exclude_internal: onlyIf('Leave out internal users of the service, such as the ghost user'),
        without_project_bots: onlyIf('Leave out bot users of project and group access tokens'),
        skip_ldap: onlyIf('Ignored: there are no LDAP users'),
        extern_uid: p.string({
          description: 'Id of the user at the identity provider; requires `provider`; administrators only',
        }),
        provider: p.string({
          description: 'Name of the identity provider; requires `extern_uid`; administrators only',
        }),
        created_before: p.datetime({
          description: 'Return only users created before this time (ISO 8601); administrators only',
        }),
        created_after: p.datetime({
          description: 'Return only users created after this time (ISO 8601); administrators only',
        }),
        without_projects: p.boolean({
          default: false,
          description: 'Return only users without projects; administrators only',
        }),
        custom_attributes: p.hash({
          description: 'Return only users with these custom attributes; administrators only',
        }),
        with_custom_attributes: p.boolean({
          default: false,
          description: 'Include custom attributes; administrators only',
        }),
        order_by: p.oneOf(['id', 'name', 'username', 'created_at', 'updated_at'], {
          default: 'id',
          description: 'Field to sort the users by; administrators only',
        }),
        sort: p.oneOf(['asc', 'desc'], {
          default: 'desc',
          description: 'Sort direction; administrators only',
        }),
        id_after: p.integer({ description: 'Return only users with an id greater than this' }),
        id_before: p.integer({ description: 'Return only users with an id less than this' }),
        two_factor: p.oneOf(['enabled', 'disabled'], {
          description: 'Return only users with or without two-factor authentication; administrators only',
        }),
        admins: p.boolean({ default: false, description: 'Return only administrators; administrators only' }),
        saml_provider_id: p.integer({
          description: 'Return only users with an identity of this SAML provider; administrators only',
        }),
      },
      [p.allOrNoneOf('extern_uid', 'provider')],
    ),
  returns: { body: shapes.usersListed },
  paginate: 'offset+keyset',
  keyset: { marker: 'id', orderBy: ['id'] },
  noun: 'User',
  errors: [
    { status: 403, description: 'The caller is not authenticated and gave no `username`' },
    {
      status: 405,
      description: 'The offset is above 50000, or the order does not support keyset pagination',
    },
  ],
  handle: async ({ actor, query, page, request }, deps) => {
    const privileged = users.seesAll(actor);
    if (query.extern_uid !== undefined) users.requireIdentitySearch(actor);
    // Two-factor authentication does not exist yet.
    const matchesNothing = query.two_factor === 'enabled';
    const states = statesOf(query);
    if ((privileged && matchesNothing) || states?.length === 0) return { items: [], total: 0, more: false };
    const found = await users.listUsers(deps, actor, {
      ...(page.kind === 'offset'
        ? counted(page)
        : { page: 1, perPage: page.perPage, order: 'id', direction: query.sort }),
      ...(query.id_after === undefined ? {} : { idAfter: query.id_after }),
      ...(query.id_before === undefined ? {} : { idBefore: query.id_before }),
      ...(query.search === undefined ? {} : { search: query.search }),
      ...(query.username === undefined ? {} : { username: query.username }),
      ...(states === undefined ? {} : { states }),
      ...(privileged ? { anyEmail: true, order: query.order_by, direction: query.sort } : {}),
      // The ghost user is active, but must not be listed as an active user.
      service: !query.exclude_internal && !query.humans && states === undefined,
      ...identityOf(query),
      ...attributesOf(actor, query),
      ...filterOf(query, privileged),
    });
    const view = privileged ? userAdmin : userBasic;
    const ids = found.items.map(({ id }) => id);
    const attributes = query.with_custom_attributes
      ? await attributesOfMany(deps, actor, 'user', ids)
      : undefined;
    const items = found.items.map((user, i) => ({
      ...view(user, request.baseUrl),
      ...(attributes === undefined ? {} : { custom_attributes: attributes[i] }),
    }));
    const last = found.items.at(-1);
    return {
      items,
      total: found.total,
      more: found.more,
      next: (found.more || found.truncated) && last !== undefined ? String(last.id) : undefined,
    };
  },
});

interface Filters {
  readonly active: boolean;
  readonly blocked: boolean;
  readonly external: boolean;
  readonly humans: boolean;
  readonly exclude_active: boolean;
  readonly exclude_external: boolean;
  readonly exclude_humans: boolean;
  readonly without_project_bots: boolean;
  readonly extern_uid?: string;
  readonly provider?: string;
  readonly saml_provider_id?: number;
  readonly created_before?: Date;
  readonly created_after?: Date;
  readonly without_projects: boolean;
  readonly custom_attributes?: Record<string, unknown>;
  readonly admins: boolean;
}

/** The states to list; undefined: all. None when the filters exclude each other. */
function statesOf(query: Filters): UserRecord['state'][] | undefined {
  if (!query.active && !query.blocked && !query.exclude_active) return undefined;
  return USER_STATES.filter(
    (state) =>
      (!query.active || state === 'active') &&
      (!query.blocked || state === 'blocked') &&
      (!query.exclude_active || state !== 'active'),
  );
}

const isHuman = ({ type }: UserRecord): boolean => type === undefined;

/** All filters as one predicate over the record; filters for administrators are ignored for other callers. */
function filterOf(query: Filters, privileged: boolean): { where?: (user: UserRecord) => boolean } {
  const conditions: ((user: UserRecord) => boolean)[] = [];
  if (query.external) conditions.push((user) => user.external);
  if (query.exclude_external) conditions.push((user) => !user.external);
  if (query.humans) conditions.push(isHuman);
  if (query.exclude_humans) conditions.push((user) => !isHuman(user));
  if (query.without_project_bots) conditions.push((user) => user.type !== 'project_bot');
  if (privileged) {
    const { created_before: before, created_after: after } = query;
    if (before !== undefined) conditions.push((user) => user.createdAt <= before.toISOString());
    if (after !== undefined) conditions.push((user) => user.createdAt >= after.toISOString());
    if (query.without_projects) conditions.push((user) => user.projectsCount === 0);
    if (query.admins) conditions.push((user) => user.admin);
    const provider = query.saml_provider_id;
    if (provider !== undefined) conditions.push((user) => samlIdentityOf(user, provider) !== undefined);
  }
  return conditions.length === 0 ? {} : { where: (user) => conditions.every((passes) => passes(user)) };
}

function attributesOf(actor: Actor, query: Filters) {
  const attributes = attributeFilter(actor, query.custom_attributes);
  return attributes === undefined ? {} : { attributes };
}

const identityOf = ({ extern_uid, provider, saml_provider_id }: Filters) =>
  extern_uid === undefined || provider === undefined
    ? {}
    : { identity: { extern_uid, provider, saml_provider_id: saml_provider_id ?? null } };
