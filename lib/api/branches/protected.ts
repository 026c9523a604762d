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
const absent = { status: 404, description: 'Protected branch not found' };
const concurrent = { status: 409, description: 'Changed by a concurrent request' };
const ruleName = () =>
  p.params({
    name: p.string({ required: true, description: 'Name of the branch, or the wildcard pattern' }),
  });

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches',
  area,
  summary: 'List the protected branches of a project',
  access: readable,
  query: () =>
    p.params({
      search: p.string({
        description: 'Return only protected branches whose name or pattern contains this text',
      }),
    }),
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
  summary: 'Get a protected branch',
  description: 'Returns the rule of this exact name or wildcard pattern.',
  access: readable,
  params: ruleName,
  returns: { body: shapes.protectedBranch },
  errors: [absent],
  handle: async ({ project, params }, deps) =>
    protectedBranch(await rules.getProtectedBranch(deps, project, params.name)),
});

const protect = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_branches',
  area,
  summary: 'Protect a branch, or all branches that match a wildcard',
  access: project('admin_project'),
  body: () =>
    p.params({
      name: p.string({
        required: true,
        description: 'Name of the branch, or a pattern in which `*` matches any text',
      }),
      push_access_level: ruleLevel('push'),
      merge_access_level: ruleLevel('merge'),
      allow_force_push: p.boolean({
        default: false,
        description: 'Allow force push to everyone who is allowed to push',
      }),
    }),
  returns: { body: shapes.protectedBranch },
  errors: [
    { status: 409, description: 'A rule of this name already exists' },
    {
      status: 422,
      description: 'The name is blank or too long, or the project has the maximum number of rules',
    },
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
  summary: 'Unprotect a branch, or all branches that match a wildcard',
  access: project('admin_project'),
  params: ruleName,
  returns: { status: 204 },
  errors: [absent, concurrent],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await rules.unprotectBranch(deps, actor, project, params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedBranchEndpoints = [list, get, protect, unprotect];

/** Access level that a rule requires for an action; Maintainer when absent. */
export const ruleLevel = (verb: string) =>
  p.integer({
    values: RULE_LEVELS,
    description: `Access level required to ${verb}: 0 (no one), 30 (Developer), 40 (Maintainer, the default) or 60 (administrator)`,
  });
