import type { Actor } from '../../domain/actor.ts';
import { getRule, listRules, removeProtection } from '../../domain/refs/protection-rules.ts';
import * as rules from '../../domain/tags/protected-tags.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { TagRule } from '../../records/refs.ts';
import { grantInputs, grantList, presentedRules, ruleLevel } from '../branches/rule-grants.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { protectedTag } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tags';
const access = project('admin_project');
const absent = { status: 404, description: 'There is no rule with this name' };

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags',
  area,
  summary: 'List the protected tags of a project',
  access,
  returns: { body: shapes.protectedTags },
  paginate: 'offset',
  handle: async ({ actor, project, page }, deps) => {
    const found = await listRules(deps, project, 'tag', { offset: page.offset, limit: page.perPage });
    return { items: await presented(deps, actor, found.items), total: found.total };
  },
});

const ruleName = () =>
  p.params({ name: p.string({ required: true, description: 'Name of the tag, or the wildcard' }) });

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags/:name',
  area,
  summary: 'Get a protected tag or wildcard',
  access,
  params: ruleName,
  returns: { body: shapes.protectedTag },
  errors: [absent],
  handle: async ({ actor, project, params }, deps) =>
    presentedOne(deps, actor, await getRule(deps, project, 'tag', params.name)),
});

const protect = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_tags',
  area,
  summary: 'Protect a tag, or several with a wildcard',
  access,
  body: () =>
    p.params({
      name: p.string({
        required: true,
        description: 'Name of a tag, or a pattern in which `*` matches any text',
      }),
      create_access_level: ruleLevel('create'),
      allowed_to_create: grantList('create'),
    }),
  returns: { body: shapes.protectedTag },
  errors: [
    {
      status: 422,
      description:
        'The name is blank, taken or too long, the project has the maximum number of rules, or an entry names a user or group without access to the project, a deploy key, or what is there already',
    },
  ],
  handle: async ({ actor, project, body }, deps) =>
    presentedOne(
      deps,
      actor,
      await rules.protectTag(deps, actor, project, {
        name: body.name,
        create: grantInputs(body.allowed_to_create, body.create_access_level),
      }),
    ),
});

const unprotect = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_tags/:name',
  area,
  summary: 'Unprotect a tag or wildcard',
  access,
  params: ruleName,
  returns: { status: 204 },
  errors: [absent, { status: 409, description: 'The rule was changed by another request' }],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await removeProtection(deps, actor, project, 'tag', params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedTagEndpoints = [list, get, protect, unprotect];

const presented = (deps: ApiDeps, actor: Actor, found: readonly TagRule[]) =>
  presentedRules(deps, actor, found, ({ create }) => create, protectedTag);

const presentedOne = async (deps: ApiDeps, actor: Actor, rule: TagRule) =>
  (await presented(deps, actor, [rule]))[0]!;
