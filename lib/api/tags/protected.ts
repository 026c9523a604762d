import * as rules from '../../domain/tags/protected-tags.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { RuleLevel } from '../../records/refs.ts';
import { ruleLevel } from '../branches/protected.ts';
import { endpoint } from '../endpoint.ts';
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
  handle: async ({ project, page }, deps) => {
    const found = await rules.listProtectedTags(deps, project, { offset: page.offset, limit: page.perPage });
    return { items: found.items.map(protectedTag), total: found.total };
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
  handle: async ({ project, params }, deps) =>
    protectedTag(await rules.getProtectedTag(deps, project, params.name)),
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
    }),
  returns: { body: shapes.protectedTag },
  errors: [
    {
      status: 422,
      description: 'The name is blank, taken or too long, or the project has the maximum number of rules',
    },
  ],
  handle: async ({ actor, project, body }, deps) =>
    protectedTag(
      await rules.protectTag(deps, actor, project, {
        name: body.name,
        createLevel: body.create_access_level as RuleLevel | undefined,
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
    await rules.unprotectTag(deps, actor, project, params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedTagEndpoints = [list, get, protect, unprotect];
