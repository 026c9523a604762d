import type { Actor } from '../../domain/actor.ts';
import * as rules from '../../domain/branches/protected-branches.ts';
import { getRule, listRules } from '../../domain/refs/protection-rules.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { type BranchRule, RULE_LEVELS } from '../../records/refs.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { protectedBranch } from './present.ts';
import { grantInputs, grantList, presentedRules, ruleLevel } from './rule-grants.ts';
import * as shapes from './shapes.ts';

const area = 'branches';
const readable = project('read_branch_rules');
const absent = { status: 404, description: 'Protected branch not found' };
const concurrent = { status: 409, description: 'Changed by a concurrent request' };
const UNFIT =
  'or an entry names a user or group without access to the project, a deploy key, or what is there already';
const codeOwners = () =>
  p.boolean({
    description:
      'Whether files with code owners are changed by merge requests alone, which their code owners must approve',
  });

/** Who is allowed to do what, besides the levels. */
const grantFields = () => ({
  allowed_to_push: grantList('push'),
  allowed_to_merge: grantList('merge'),
  allowed_to_unprotect: grantList('change or delete the rule'),
});

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
  handle: async ({ actor, project, query, page }, deps) => {
    const { search } = query;
    const found = await listRules(deps, project, 'branch', {
      search,
      offset: page.offset,
      limit: page.perPage,
    });
    return { items: await presented(deps, actor, found.items), total: found.total };
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
  handle: async ({ actor, project, params }, deps) =>
    presentedOne(deps, actor, await getRule(deps, project, 'branch', params.name)),
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
      unprotect_access_level: p.integer({
        values: RULE_LEVELS.filter((level) => level !== 0),
        description: 'Access level required to change or delete the rule: 30, 40 (the default) or 60',
      }),
      ...grantFields(),
      allow_force_push: p.boolean({
        default: false,
        description: 'Allow force push to everyone who is allowed to push',
      }),
      code_owner_approval_required: codeOwners(),
    }),
  returns: { body: shapes.protectedBranch },
  errors: [
    { status: 409, description: 'A rule of this name already exists' },
    {
      status: 422,
      description: `The name is blank or too long, or the project has the maximum number of rules; ${UNFIT}`,
    },
  ],
  handle: async ({ actor, project, body }, deps) =>
    presentedOne(
      deps,
      actor,
      await rules.protectBranch(deps, actor, project, {
        name: body.name,
        push: grantInputs(body.allowed_to_push, body.push_access_level),
        merge: grantInputs(body.allowed_to_merge, body.merge_access_level),
        unprotect: grantInputs(body.allowed_to_unprotect, body.unprotect_access_level),
        allowForcePush: body.allow_force_push,
        codeOwnerApproval: body.code_owner_approval_required,
      }),
    ),
});

const update = endpoint({
  method: 'PATCH',
  path: '/projects/:id/protected_branches/:name',
  area,
  summary: 'Update a protected branch',
  description:
    'Entries of a list without `id` are added. With `id` they change that one, and with `_destroy` they remove it. All others are kept.',
  access: project('admin_project'),
  params: ruleName,
  body: () =>
    p.params({
      ...grantFields(),
      allow_force_push: p.boolean({ description: 'Allow force push to everyone who is allowed to push' }),
      code_owner_approval_required: codeOwners(),
    }),
  returns: { body: shapes.protectedBranch },
  errors: [
    { status: 403, description: 'The rule does not let the caller change it' },
    { status: 404, description: 'Protected branch, or entry with that id, not found' },
    concurrent,
    { status: 422, description: UNFIT },
  ],
  handle: async ({ actor, project, params, body }, deps) =>
    presentedOne(
      deps,
      actor,
      await rules.updateProtectedBranch(deps, actor, project, params.name, {
        push: grantInputs(body.allowed_to_push),
        merge: grantInputs(body.allowed_to_merge),
        unprotect: grantInputs(body.allowed_to_unprotect),
        allowForcePush: body.allow_force_push,
        codeOwnerApproval: body.code_owner_approval_required,
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
  errors: [{ status: 403, description: 'The rule does not let the caller delete it' }, absent, concurrent],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await rules.unprotectBranch(deps, actor, project, params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedBranchEndpoints = [list, get, protect, update, unprotect];

const presented = (deps: ApiDeps, actor: Actor, found: readonly BranchRule[]) =>
  presentedRules(
    deps,
    actor,
    found,
    ({ push, merge, unprotect }) => [...push, ...merge, ...unprotect],
    protectedBranch,
  );

const presentedOne = async (deps: ApiDeps, actor: Actor, rule: BranchRule) =>
  (await presented(deps, actor, [rule]))[0]!;
