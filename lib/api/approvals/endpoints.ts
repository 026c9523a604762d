import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import * as rules from '../../domain/approvals/rules.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { APPROVAL_RULE_TYPES, type ApprovalRule } from '../../records/approvals.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { approvalsRequired, approverFields, approversOf } from './params.ts';
import { projectRules } from './present.ts';
import { approvalSettingEndpoints } from './settings.ts';
import * as shapes from './shapes.ts';

const area = 'approvals';
const access = project('admin_project');
const path = '/projects/:id/approval_rules';

const absent = { status: 404, description: 'The project has no such rule' };
const concurrent = { status: 409, description: 'The rules are being changed by other requests' };
const refused = {
  status: 400,
  description:
    'A field is invalid; the name is taken; a user is no member, a group is not visible, or a protected branch is not of the project',
};

const ruleId = () =>
  p.params({ approval_rule_id: p.integer({ required: true, description: 'ID of the rule' }) });

/** Whom and what a rule is for. */
const ruleFields = () => ({
  ...approverFields(),
  protected_branch_ids: p.list(p.integer(), {
    maxItems: 100,
    description: 'IDs of the protected branches that the rule is for; none: every branch',
  }),
  applies_to_all_protected_branches: p.boolean({
    description: 'The rule is for all protected branches, whatever `protected_branch_ids` says',
  }),
});

const inputOf = ({
  protected_branch_ids: protectedBranchIds,
  applies_to_all_protected_branches: allProtectedBranches,
  ...body
}: Parameters<typeof approversOf>[0] & {
  readonly protected_branch_ids?: readonly number[];
  readonly applies_to_all_protected_branches?: boolean;
}) => ({ ...approversOf(body), protectedBranchIds, allProtectedBranches });

const shown = async (
  deps: ApiDeps,
  actor: Actor,
  inProject: ProjectAccess,
  rule: ApprovalRule,
  baseUrl: string,
) => (await projectRules(deps, actor, inProject, [rule], baseUrl))[0]!;

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the approval rules of a project',
  description: 'The oldest first.',
  access,
  returns: { body: shapes.projectRules },
  paginate: 'offset',
  handle: async ({ actor, project: inProject, page, request }, deps) => {
    const all = await rules.listApprovalRules(deps, inProject);
    const items = all.slice(page.offset, page.offset + page.perPage);
    return {
      items: await projectRules(deps, actor, inProject, items, request.baseUrl),
      total: all.length,
    };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:approval_rule_id`,
  area,
  summary: 'Get an approval rule of a project',
  access,
  params: ruleId,
  returns: { body: shapes.projectRule },
  errors: [absent],
  handle: async ({ actor, project: inProject, params, request }, deps) => {
    const rule = await rules.getApprovalRule(deps, inProject, params.approval_rule_id);
    return shown(deps, actor, inProject, rule, request.baseUrl);
  },
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create an approval rule of a project',
  access,
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'Name of the rule, at most 255 characters' }),
      approvals_required: approvalsRequired({ required: true }),
      rule_type: p.oneOf(APPROVAL_RULE_TYPES, {
        description:
          '`any_approver`: anybody who may approve; a project has one such rule. Default: `regular` with users or groups, else `any_approver`',
      }),
      ...ruleFields(),
    }),
  returns: { status: 201, body: shapes.projectRule },
  errors: [refused, concurrent],
  handle: async ({ actor, project: inProject, body, request }, deps) => {
    const rule = await rules.createApprovalRule(deps, actor, inProject, {
      ...inputOf(body),
      name: body.name,
      approvalsRequired: body.approvals_required,
      type: body.rule_type,
    });
    return json(await shown(deps, actor, inProject, rule, request.baseUrl), { status: 201 });
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:approval_rule_id`,
  area,
  summary: 'Update an approval rule of a project',
  description: 'A list that is given replaces the former one. Groups that you cannot see stay.',
  access,
  params: ruleId,
  body: () =>
    p.params({
      name: p.string({ description: 'Name of the rule, at most 255 characters' }),
      approvals_required: approvalsRequired({}),
      ...ruleFields(),
      remove_hidden_groups: p.boolean({ description: 'Remove groups that you cannot see, too' }),
    }),
  returns: { body: shapes.projectRule },
  errors: [refused, absent, concurrent],
  handle: async ({ actor, project: inProject, params, body, request }, deps) => {
    const rule = await rules.changeApprovalRule(deps, actor, inProject, params.approval_rule_id, {
      ...inputOf(body),
      name: body.name,
      approvalsRequired: body.approvals_required,
      removeHiddenGroups: body.remove_hidden_groups,
    });
    return shown(deps, actor, inProject, rule, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:approval_rule_id`,
  area,
  summary: 'Delete an approval rule of a project',
  access,
  params: ruleId,
  returns: { status: 204 },
  errors: [absent, concurrent],
  handle: async ({ actor, project: inProject, params, unmodifiedSince }, deps) => {
    await rules.removeApprovalRule(deps, actor, inProject, params.approval_rule_id, unmodifiedSince);
    return noContent();
  },
});

export const approvalEndpoints = [list, get, create, update, remove, ...approvalSettingEndpoints];
