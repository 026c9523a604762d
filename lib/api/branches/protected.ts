import * as rules from '../../domain/branches/protected-branches.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { RULE_LEVELS, type RuleLevel } from '../../records/refs.ts';
import { endpoint } from '../endpoint.ts';
import { protectedBranch } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'branches';
const readable = project('read_branch_rules');
const absent = { status: 404, description: 'No rule of this name' };

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches',
  area,
  summary: 'List the rules that protect branches, by name',
  access: readable,
  query: () => p.params({ search: p.string({ description: 'Part of the name or pattern' }) }),
  returns: { body: shapes.protectedBranches },
  paginate: 'offset',
  handle: async ({ project, query, page }, deps) => {
    const { search } = query;
    const found = await rules.listProtectedBranches(deps, project, {
      search,
      offset: page.offset,
      limit: page.perPage,
    });
    return { items: found.items.map(protectedBranch), total: found.total };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches/:name',
  area,
  summary: 'Get a rule that protects branches',
  access: readable,
  returns: { body: shapes.protectedBranch },
  errors: [absent],
  handle: async ({ project, params }, deps) =>
    protectedBranch(await rules.getProtectedBranch(deps, project, params.name)),
});

const protect = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_branches',
  area,
  summary: 'Protect the branches of a name or pattern',
  access: project('admin_project'),
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'A branch, or a pattern with `*` for any text' }),
      push_access_level: ruleLevel('push'),
      merge_access_level: ruleLevel('merge'),
      allow_force_push: p.boolean({ default: false, description: 'Those who may push may drop commits' }),
    }),
  returns: { body: shapes.protectedBranch },
  errors: [
    { status: 409, description: 'There is a rule of this name' },
    { status: 422, description: 'A blank or too long name, or as many rules as a project may have' },
  ],
  handle: async ({ actor, project, body }, deps) =>
    protectedBranch(
      await rules.protectBranch(deps, actor, project, {
        name: body.name,
        pushLevel: body.push_access_level as RuleLevel | undefined,
        mergeLevel: body.merge_access_level as RuleLevel | undefined,
        allowForcePush: body.allow_force_push,
      }),
    ),
});

const unprotect = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_branches/:name',
  area,
  summary: 'Take a rule that protects branches away',
  access: project('admin_project'),
  returns: { status: 204 },
  errors: [absent, { status: 409, description: 'Others change the rule at this moment' }],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await rules.unprotectBranch(deps, actor, project, params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedBranchEndpoints = [list, get, protect, unprotect];

/** Maintainers when it is not given. */
export const ruleLevel = (verb: string) =>
  p.integer({
    values: RULE_LEVELS,
    description: `Who may ${verb}: 0 nobody, 30 Developers and above, 40 Maintainers and above, 60 administrators`,
  });
