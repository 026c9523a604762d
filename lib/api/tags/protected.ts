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
const absent = { status: 404, description: 'No rule of this name' };

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags',
  area,
  summary: 'List the rules that protect tags, by name',
  access,
  returns: { body: shapes.protectedTags },
  paginate: 'offset',
  handle: async ({ project, page }, deps) => {
    const found = await rules.listProtectedTags(deps, project, { offset: page.offset, limit: page.perPage });
    return { items: found.items.map(protectedTag), total: found.total };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags/:name',
  area,
  summary: 'Get a rule that protects tags',
  access,
  returns: { body: shapes.protectedTag },
  errors: [absent],
  handle: async ({ project, params }, deps) =>
    protectedTag(await rules.getProtectedTag(deps, project, params.name)),
});

const protect = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_tags',
  area,
  summary: 'Protect the tags of a name or pattern',
  access,
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'A tag, or a pattern with `*` for any text' }),
      create_access_level: ruleLevel('create'),
    }),
  returns: { body: shapes.protectedTag },
  errors: [
    { status: 422, description: 'A blank, taken or too long name, or as many rules as a project may have' },
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
  summary: 'Take a rule that protects tags away',
  access,
  returns: { status: 204 },
  errors: [absent, { status: 409, description: 'Others change the rule at this moment' }],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await rules.unprotectTag(deps, actor, project, params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedTagEndpoints = [list, get, protect, unprotect];
