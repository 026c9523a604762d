/** SCIM 2.0 (RFC 7644) for groups with single sign-on: the identity provider manages the members. */
import { attributesOf, memberOf, patched } from '../../domain/scim/attributes.ts';
import { openScim, type ScimCaller } from '../../domain/scim/caller.ts';
import { changeUser, removeUser } from '../../domain/scim/change.ts';
import { noResource } from '../../domain/scim/errors.ts';
import { parseFilter } from '../../domain/scim/filter.ts';
import { getUser, listUsers } from '../../domain/scim/find.ts';
import { provision } from '../../domain/scim/provision.ts';
import { otherCredential, type Shown } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { MAX_COUNT, serviceProvider, userSchema, userType } from './descriptions.ts';
import { scim } from './dialect.ts';
import {
  type AttributeSelection,
  baseOf,
  list as listResponse,
  locationOf,
  selectAttributes,
  user as shown,
} from './present.ts';
import * as shapes from './shapes.ts';

const ROOT = '/api/scim/v2/groups/:group_path';
const DEFAULT_COUNT = 20;

const scimToken = otherCredential<ScimCaller, ApiDeps>(({ params, ...rest }: Shown, deps) =>
  openScim(deps, { ...rest, groupPath: params['group_path']! }),
);
const common = {
  area: 'scim',
  access: scimToken,
  dialect: scim,
  // A user takes some hundred bytes, a PATCH with a hundred operations some thousand.
  bodyLimit: 256 * 1024,
} as const;

const groupPath = () =>
  p.string({ required: true, description: 'Full path of a top-level group with single sign-on' });
const inGroup = () => p.params({ group_path: groupPath() });
const one = () =>
  p.params({
    group_path: groupPath(),
    uid: p.string({ required: true, description: 'SCIM id of the user (external UID)' }),
  });
const attributes = () => ({
  attributes: p.string({
    description: 'Return only these attributes, comma-separated; sub-attributes as `name.givenName`',
  }),
  excludedAttributes: p.string({ description: 'Leave out these attributes, comma-separated' }),
});
const page = () => ({
  filter: p.string({
    description:
      'Filter such as `userName eq "ada"`; attributes `id`, `externalId`, `userName` and `emails.value`, operators `eq` and `and`',
  }),
  startIndex: p.integer({
    default: 1,
    description: 'Index of the first result, from 1; lower values mean 1',
  }),
  count: p.integer({
    default: DEFAULT_COUNT,
    description: `Number of results per page, at most ${MAX_COUNT}`,
  }),
});
const notFound = { status: 404, description: 'The group or user does not exist' };
const tooManyMails = { status: 429, description: 'Too many confirmation emails were requested' };
const conflicting = {
  status: 409,
  description: 'The value is taken (`uniqueness`), or the user is the last owner of the group',
};

const list = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/Users`,
  summary: 'List the provisioned users of a group',
  params: inGroup,
  query: () => p.params({ ...page(), ...attributes() }),
  returns: { body: shapes.users },
  errors: [notFound],
  handle: ({ actor: caller, query }, deps) => found(deps, caller, query),
});

/** RFC 7644, 3.4.3: the query is sent in the body, so that it does not appear in logs. */
const search = (resource: '' | '/Users') =>
  endpoint({
    ...common,
    method: 'POST',
    path: `${ROOT}${resource}/.search`,
    summary: `Search the provisioned users of a group${resource === '' ? ' (root search)' : ''}`,
    params: inGroup,
    body: () =>
      p.params({
        ...page(),
        attributes: p.array(p.string(), { description: 'Return only these attributes' }),
        excludedAttributes: p.array(p.string(), { description: 'Leave out these attributes' }),
      }),
    inMaintenance: true,
    returns: { status: 200, body: shapes.users },
    errors: [notFound],
    handle: ({ actor: caller, body }, deps) => found(deps, caller, body),
  });

async function found(
  deps: ApiDeps,
  caller: ScimCaller,
  query: AttributeSelection & {
    readonly filter?: string;
    readonly startIndex: number;
    readonly count: number;
  },
) {
  const filter = query.filter === undefined ? undefined : parseFilter(query.filter);
  const startIndex = Math.max(1, query.startIndex);
  const count = Math.min(MAX_COUNT, Math.max(0, query.count));
  const { total, items } = await listUsers(deps, caller, filter, { startIndex, count });
  return listResponse(
    items.map((item) => selectAttributes(shown(caller, item), query)),
    { total, startIndex },
  );
}

const get = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/Users/:uid`,
  summary: 'Get a provisioned user',
  params: one,
  query: () => p.params(attributes()),
  returns: { body: shapes.user },
  errors: [notFound],
  handle: async ({ actor: caller, params, query }, deps) =>
    selectAttributes(shown(caller, await getUser(deps, caller, params.uid)), query),
});

/** The attributes of a user in a request body. */
const userFields = (required: boolean) => ({
  externalId: p.string({ required, description: 'Identifier of the user at the identity provider' }),
  userName: p.string({
    required,
    description: 'Name that the user signs in with; the username of the account is derived from it',
  }),
  emails: p.array(
    p.object({
      type: p.string({ description: '`work` or another type' }),
      value: p.string({ required: true, description: 'The address' }),
      primary: p.boolean({ description: 'Whether it is the primary address' }),
    }),
    {
      required,
      description: 'Email addresses; the primary one, or else the work address, is stored',
    },
  ),
  name: p.object(
    {
      formatted: p.string({ description: 'Full name' }),
      givenName: p.string({ description: 'First name' }),
      familyName: p.string({ description: 'Last name' }),
    },
    {
      required,
      description: 'Name of the user, or the full name as a string; default: `displayName` or `userName`',
    },
  ),
  displayName: p.string({ description: 'Display name of the user' }),
  active: p.boolean({ description: 'Whether the user is a member of the group' }),
  meta: p.hash({ description: 'Ignored: the service sets the metadata' }),
});

const create = endpoint({
  ...common,
  method: 'POST',
  path: `${ROOT}/Users`,
  summary: 'Provision a user',
  description:
    'Restores a deprovisioned user, links an account that has confirmed the email address, or creates an account.',
  params: inGroup,
  query: () => p.params(attributes()),
  body: () => p.asGiven(p.params(userFields(true))),
  returns: { body: shapes.user, headers: ['Location'] },
  errors: [notFound, conflicting, tooManyMails],
  handle: async ({ actor: caller, query, body }, deps) => {
    if (memberOf(body, 'name') === undefined) throw p.parameterFailure(['name is missing']);
    const created = await provision(deps, caller, attributesOf(body));
    const headers = { Location: locationOf(caller, created.identity.externUid) };
    return json(selectAttributes(shown(caller, created), query), { status: 201, headers });
  },
});

const replace = endpoint({
  ...common,
  method: 'PUT',
  path: `${ROOT}/Users/:uid`,
  summary: 'Replace a user',
  description:
    'Attributes that are absent keep their value. `active` false deprovisions the user, true restores them.',
  params: one,
  query: () => p.params(attributes()),
  body: () => p.asGiven(p.params(userFields(false))),
  returns: { body: shapes.user },
  errors: [notFound, conflicting, tooManyMails],
  handle: async ({ actor: caller, params, query, body }, deps) =>
    selectAttributes(shown(caller, await changeUser(deps, caller, params.uid, attributesOf(body))), query),
});

const patch = endpoint({
  ...common,
  method: 'PATCH',
  path: `${ROOT}/Users/:uid`,
  summary: 'Update a user',
  description: 'Applies all operations or none. Unknown attributes are ignored.',
  params: one,
  query: () => p.params(attributes()),
  body: () =>
    p.asGiven(
      p.params({
        Operations: p.array(
          p.object({
            op: p.string({
              required: true,
              description: 'Operation, in any case',
              documentedValues: ['Add', 'Replace', 'Remove', 'add', 'replace', 'remove'],
            }),
            path: p.string({
              description: 'Attribute to change; without it, `value` is an object of attributes',
            }),
            value: p.anything({ description: 'New value' }),
          }),
          { required: true, description: 'Operations to apply, in order' },
        ),
      }),
    ),
  returns: {
    status: 204,
    or: {
      status: 200,
      body: shapes.user,
      description: 'The updated user, if `attributes` or `excludedAttributes` is given',
    },
  },
  errors: [notFound, conflicting, tooManyMails],
  handle: async ({ actor: caller, params, query, body }, deps) => {
    const updated = await changeUser(deps, caller, params.uid, patched(memberOf(body, 'Operations')));
    // RFC 7644, 3.5.2.
    const returnsUser = query.attributes !== undefined || query.excludedAttributes !== undefined;
    return returnsUser ? json(selectAttributes(shown(caller, updated), query)) : noContent();
  },
});

const remove = endpoint({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/Users/:uid`,
  summary: 'Delete a user',
  description:
    'Removes the user from the group and deletes the SCIM identity. The account and its content remain.',
  params: one,
  returns: { status: 204 },
  errors: [notFound, conflicting],
  handle: ({ actor: caller, params }, deps) => removeUser(deps, caller, params.uid),
});

const groups = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/Groups`,
  summary: 'List SCIM groups (always empty)',
  params: inGroup,
  query: () =>
    p.params({
      filter: p.string({ description: 'Ignored: the list is empty' }),
      startIndex: p.integer({ description: 'Ignored: the list is empty' }),
      count: p.integer({ description: 'Ignored: the list is empty' }),
    }),
  returns: { body: shapes.descriptions },
  errors: [notFound],
  handle: () => listResponse([]),
});

const config = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/ServiceProviderConfig`,
  summary: 'Get the SCIM service provider configuration',
  params: inGroup,
  returns: { body: shapes.description },
  errors: [notFound],
  handle: ({ actor: caller }) => serviceProvider(baseOf(caller)),
});

/** Endpoints that list the discovery documents of a kind, of which there is one, and get it by its id. */
const discovery = (
  name: string,
  summaries: { readonly list: string; readonly get: string },
  documentOf: (base: string) => { readonly id: string },
) => [
  endpoint({
    ...common,
    method: 'GET',
    path: `${ROOT}/${name}`,
    summary: summaries.list,
    params: inGroup,
    returns: { body: shapes.descriptions },
    errors: [notFound],
    handle: ({ actor: caller }) => listResponse([documentOf(baseOf(caller))]),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: `${ROOT}/${name}/:uid`,
    summary: summaries.get,
    params: one,
    returns: { body: shapes.description },
    errors: [notFound],
    handle: ({ actor: caller, params }) => {
      const document = documentOf(baseOf(caller));
      if (document.id !== params.uid) throw noResource(params.uid);
      return document;
    },
  }),
];

export const scimEndpoints = [
  list,
  search(''),
  search('/Users'),
  get,
  create,
  replace,
  patch,
  remove,
  groups,
  config,
  ...discovery('Schemas', { list: 'List the SCIM schemas', get: 'Get a SCIM schema' }, userSchema),
  ...discovery(
    'ResourceTypes',
    { list: 'List the SCIM resource types', get: 'Get a SCIM resource type' },
    userType,
  ),
];
