import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { type RuleDetails, ruleDetails } from '../../domain/approvals/details.ts';
import { ruleStateDetails, type ShownApprovals } from '../../domain/approvals/merge-request-details.ts';
import { listApprovalRules } from '../../domain/approvals/rules.ts';
import { granteesOf } from '../../domain/project-relations/grantees.ts';
import type { InstanceSettings } from '../../domain/settings/current.ts';
import type { ApprovalRule } from '../../records/approvals.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { protectedBranch } from '../branches/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { group } from '../groups/present.ts';
import { userBasic } from '../users/present.ts';

function approvalRule(
  { rule, users, groups, hasHiddenGroups, approvers }: RuleDetails,
  baseUrl: string,
  instance: Pick<InstanceSettings, 'default_branch_protection'>,
) {
  return {
    id: rule.id,
    name: rule.name,
    rule_type: rule.type,
    report_type: null,
    eligible_approvers: approvers.map((user) => userBasic(user, baseUrl)),
    approvals_required: rule.approvalsRequired,
    users: users.map((user) => userBasic(user, baseUrl)),
    groups: groups.map((record) => group(record, baseUrl, instance)),
    contains_hidden_groups: hasHiddenGroups,
  };
}

/** Rules of a project, with the protected branches that they are for. */
export async function projectRules(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  rules: readonly ApprovalRule[],
  baseUrl: string,
) {
  const [details, instance] = await Promise.all([
    ruleDetails(deps, actor, access, rules),
    deps.settings.current(),
  ]);
  const grants = details.flatMap(({ protectedBranches }) =>
    protectedBranches.flatMap(({ push, merge, unprotect }) => [...push, ...merge, ...unprotect]),
  );
  const grantees = await granteesOf(deps, actor, grants);
  return details.map((each) => ({
    ...approvalRule(each, baseUrl, instance),
    protected_branches: each.protectedBranches.map((rule) => protectedBranch(rule, grantees)),
    applies_to_all_protected_branches: each.rule.allProtectedBranches,
  }));
}

const sourceOf = (source: ApprovalRule | undefined) =>
  source === undefined
    ? null
    : { id: source.id, name: source.name, approvals_required: source.approvalsRequired };

const sameIds = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));

const differs = (rule: ApprovalRule, source: ApprovalRule | undefined): boolean =>
  source !== undefined &&
  (rule.name !== source.name ||
    rule.approvalsRequired !== source.approvalsRequired ||
    !sameIds(rule.userIds, source.userIds) ||
    !sameIds(rule.groupIds, source.groupIds));

/** Rules of a merge request. */
export async function ownRules(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  rules: readonly ApprovalRule[],
  baseUrl: string,
) {
  const sourced = rules.some(({ sourceRuleId }) => sourceRuleId !== null);
  const [details, instance, ofProject] = await Promise.all([
    ruleDetails(deps, actor, access, rules),
    deps.settings.current(),
    sourced ? listApprovalRules(deps, access) : [],
  ]);
  return details.map((each) => {
    const source = ofProject.find(({ id }) => id === each.rule.sourceRuleId);
    return {
      ...approvalRule(each, baseUrl, instance),
      section: each.rule.section ?? null,
      source_rule: sourceOf(source),
      overridden: differs(each.rule, source),
    };
  });
}

/** What the settings ask for, shown as a rule. */
const BY_SETTINGS = {
  id: null,
  name: 'All Members',
  rule_type: 'any_approver' as const,
  report_type: null,
  eligible_approvers: [],
  users: [],
  groups: [],
  contains_hidden_groups: false,
};

export async function approvalStateOf(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  shown: ShownApprovals,
  baseUrl: string,
) {
  const [rules, instance] = await Promise.all([
    ruleStateDetails(deps, actor, access, shown),
    deps.settings.current(),
  ]);
  return {
    approval_rules_overwritten: shown.state.overwritten,
    rules: rules.map(({ details, state, approvedBy, source }) => ({
      ...(details === undefined ? BY_SETTINGS : approvalRule(details, baseUrl, instance)),
      approvals_required: state.approvalsRequired,
      source_rule: sourceOf(source),
      overridden: details !== undefined && differs(details.rule, source),
      section: state.rule?.section ?? null,
      code_owner: state.rule?.type === 'code_owner',
      approved: state.approved,
      approved_by: approvedBy.map((user) => userBasic(user, baseUrl)),
    })),
  };
}

/** @param description its text @param mergeStatus as the merge request itself shows it */
export const approvalsOf = (
  record: MergeRequestRecord,
  description: string | null,
  mergeStatus: string,
  { settings, state, approvedBy, hasApproved, mayApprove }: ShownApprovals,
  baseUrl: string,
) => ({
  id: record.id,
  iid: record.iid,
  project_id: record.projectId,
  title: record.title,
  description,
  state: record.state,
  created_at: record.createdAt,
  updated_at: record.updatedAt,
  merge_status: mergeStatus,
  approved: state.approved,
  approvals_required: state.approvalsRequired,
  approvals_left: state.approvalsLeft,
  require_password_to_approve: settings.require_password_to_approve,
  approved_by: approvedBy.map((user) => ({ user: userBasic(user, baseUrl) })),
  suggested_approvers: [],
  approvers: [],
  approver_groups: [],
  user_has_approved: hasApproved,
  user_can_approve: mayApprove,
  approval_rules_left: state.rules
    .filter(({ approved }) => !approved)
    .map(({ rule }) => ({
      id: rule?.id ?? null,
      name: rule?.name ?? BY_SETTINGS.name,
      rule_type: rule?.type ?? BY_SETTINGS.rule_type,
    })),
  has_approval_rules: state.rules.length > 0,
  merge_request_approvers_available: true,
  multiple_approval_rules_available: true,
});
