/** SCIM 2.0 (RFC 7644) of groups with single sign-on: their identity provider keeps the members. */
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
import { baseOf, chosen, list as listResponse, locationOf, user as shown, type Wanted } from './present.ts';
import * as shapes from './shapes.ts';

const ROOT = '/api/scim/v2/groups/:group_path';
const DEFAULT_COUNT = 20;

const scimToken = otherCredential<ScimCaller, ApiDeps>(({ params, ...asked }: Shown, deps) =>
  openScim(deps, { ...asked, groupPath: params['group_path']! }),
);
const common = {
  area: 'scim',
  access: scimToken,
  dialect: scim,
  // A person is some hundred bytes; a patch of a hundred operations some thousand.
  bodyLimit: 256 * 1024,
} as const;

const groupPath = () =>
  p.string({ required: true, description: 'Full path of a top-level group with single sign-on' });
const inGroup = () => p.params({ group_path: groupPath() });
const one = () =>
  p.params({ group_path: groupPath(), uid: p.string({ required: true, description: 'External UID' }) });
const attributes = () => ({
  attributes: p.string({ description: 'Only these, with commas between; parts as `name.givenName`' }),
  excludedAttributes: p.string({ description: 'All but these' }),
});
const page = () => ({
  filter: p.string({
    description:
      '`id`, `externalId`, `userName` or `emails.value`, `eq` and a quoted text; further comparisons with `and`',
  }),
  startIndex: p.integer({ default: 1, description: 'Counted from 1; below, 1' }),
  count: p.integer({ default: DEFAULT_COUNT, description: `At most ${MAX_COUNT}` }),
});
const absent = { status: 404, description: 'No such group or person' };
const often = { status: 429, description: 'Too much mail asks for addresses to be confirmed' };
const taken = { status: 409, description: 'Taken (`uniqueness`), or the last owner of the group' };

const list = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/Users`,
  summary: 'List whom the identity provider lets into the group',
  params: inGroup,
  query: () => p.params({ ...page(), ...attributes() }),
  returns: { body: shapes.users },
  errors: [absent],
  handle: ({ actor: caller, query }, deps) => found(deps, caller, query),
});

/** RFC 7644, 3.4.3: what would be said in a query is said in a body, so that no log has it. */
const search = (below: '' | '/Users') =>
  endpoint({
    ...common,
    method: 'POST',
    path: `${ROOT}${below}/.search`,
    summary: `List whom the identity provider lets into the group${below === '' ? ', from the root' : ''}`,
    params: inGroup,
    body: () =>
      p.params({
        ...page(),
        attributes: p.array(p.string(), { description: 'Only these' }),
        excludedAttributes: p.array(p.string(), { description: 'All but these' }),
      }),
    inMaintenance: true,
    returns: { status: 200, body: shapes.users },
    errors: [absent],
    handle: ({ actor: caller, body }, deps) => found(deps, caller, body),
  });

async function found(
  deps: ApiDeps,
  caller: ScimCaller,
  asked: Wanted & { readonly filter?: string; readonly startIndex: number; readonly count: number },
) {
  const filter = asked.filter === undefined ? undefined : parseFilter(asked.filter);
  const startIndex = Math.max(1, asked.startIndex);
  const count = Math.min(MAX_COUNT, Math.max(0, asked.count));
  const { total, items } = await listUsers(deps, caller, filter, { startIndex, count });
  return listResponse(
    items.map((item) => chosen(shown(caller, item), asked)),
    { total, startIndex },
  );
}

const get = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/Users/:uid`,
  summary: 'Get one of them',
  params: one,
  query: () => p.params(attributes()),
  returns: { body: shapes.user },
  errors: [absent],
  handle: async ({ actor: caller, params, query }, deps) =>
    chosen(shown(caller, await getUser(deps, caller, params.uid)), query),
});

/** What a person is told to be. */
const person = (required: boolean) => ({
  externalId: p.string({ required, description: 'External UID' }),
  userName: p.string({ required, description: 'What they sign in with; the username follows from it' }),
  emails: p.array(p.object({ type: p.string(), value: p.string({ required: true }), primary: p.boolean() }), {
    required,
    description: 'The primary one, or else that of work, is kept',
  }),
  name: p.object(
    { formatted: p.string(), givenName: p.string(), familyName: p.string() },
    {
      required,
      description: 'Or the full name as a text; without any, `displayName` or `userName` stands for it',
    },
  ),
  displayName: p.string(),
  active: p.boolean({ description: 'Whether they are let in' }),
  meta: p.hash({ description: 'Not read' }),
});

const create = endpoint({
  ...common,
  method: 'POST',
  path: `${ROOT}/Users`,
  summary: 'Let somebody in',
  description:
    'Who was let go comes back; who has an account with a confirmed address joins with it; for others one is made.',
  params: inGroup,
  query: () => p.params(attributes()),
  body: () => p.asGiven(p.params(person(true))),
  returns: { body: shapes.user, headers: ['Location'] },
  errors: [absent, taken, often],
  handle: async ({ actor: caller, query, body }, deps) => {
    if (memberOf(body, 'name') === undefined) throw p.parameterFailure(['name is missing']);
    const made = await provision(deps, caller, attributesOf(body));
    const headers = { Location: locationOf(caller, made.identity.externUid) };
    return json(chosen(shown(caller, made), query), { status: 201, headers });
  },
});

const replace = endpoint({
  ...common,
  method: 'PUT',
  path: `${ROOT}/Users/:uid`,
  summary: 'Say anew who somebody is',
  description: 'What is left out stays. With `active` false they are let go; with true they come back.',
  params: one,
  query: () => p.params(attributes()),
  body: () => p.asGiven(p.params(person(false))),
  returns: { body: shapes.user },
  errors: [absent, taken, often],
  handle: async ({ actor: caller, params, query, body }, deps) =>
    chosen(shown(caller, await changeUser(deps, caller, params.uid, attributesOf(body))), query),
});

const patch = endpoint({
  ...common,
  method: 'PATCH',
  path: `${ROOT}/Users/:uid`,
  summary: 'Change somebody',
  description: 'All operations or none. Attributes that are not kept are passed over.',
  params: one,
  query: () => p.params(attributes()),
  body: () =>
    p.asGiven(
      p.params({
        Operations: p.array(
          p.object({
            op: p.string({
              required: true,
              told: ['Add', 'Replace', 'Remove', 'add', 'replace', 'remove'],
            }),
            path: p.string(),
            value: p.anything(),
          }),
          { required: true },
        ),
      }),
    ),
  returns: {
    status: 204,
    or: {
      status: 200,
      body: shapes.user,
      description: 'Where `attributes` or `excludedAttributes` ask for some',
    },
  },
  errors: [absent, taken, often],
  handle: async ({ actor: caller, params, query, body }, deps) => {
    const is = await changeUser(deps, caller, params.uid, patched(memberOf(body, 'Operations')));
    // RFC 7644, 3.5.2.
    const wanted = query.attributes !== undefined || query.excludedAttributes !== undefined;
    return wanted ? json(chosen(shown(caller, is), query)) : noContent();
  },
});

const remove = endpoint({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/Users/:uid`,
  summary: 'Let somebody go, and forget them',
  description: 'The account stays, with what it wrote.',
  params: one,
  returns: { status: 204 },
  errors: [absent, taken],
  handle: ({ actor: caller, params }, deps) => removeUser(deps, caller, params.uid),
});

const groups = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/Groups`,
  summary: 'Groups of people: there are none',
  params: inGroup,
  query: () => p.params({ filter: p.string(), startIndex: p.integer(), count: p.integer() }),
  returns: { body: shapes.descriptions },
  errors: [absent],
  handle: () => listResponse([]),
});

const config = endpoint({
  ...common,
  method: 'GET',
  path: `${ROOT}/ServiceProviderConfig`,
  summary: 'What of SCIM is supported',
  params: inGroup,
  returns: { body: shapes.description },
  errors: [absent],
  handle: ({ actor: caller }) => serviceProvider(baseOf(caller)),
});

/** Several, and one of them by its id. */
const described = (name: string, summary: string, only: (base: string) => { readonly id: string }) => [
  endpoint({
    ...common,
    method: 'GET',
    path: `${ROOT}/${name}`,
    summary,
    params: inGroup,
    returns: { body: shapes.descriptions },
    errors: [absent],
    handle: ({ actor: caller }) => listResponse([only(baseOf(caller))]),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: `${ROOT}/${name}/:uid`,
    summary: `${summary}: one`,
    params: one,
    returns: { body: shapes.description },
    errors: [absent],
    handle: ({ actor: caller, params }) => {
      const found = only(baseOf(caller));
      if (found.id !== params.uid) throw noResource(params.uid);
      return found;
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
  ...described('Schemas', 'The schemas of resources', userSchema),
  ...described('ResourceTypes', 'The types of resources', userType),
];
