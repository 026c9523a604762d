import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { type RuleDetails, ruleDetails } from '../../domain/approvals/details.ts';
import { granteesOf } from '../../domain/project-relations/grantees.ts';
import type { InstanceSettings } from '../../domain/settings/current.ts';
import type { ApprovalRule } from '../../records/approvals.ts';
import { protectedBranch } from '../branches/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { group } from '../groups/present.ts';
import { userBasic } from '../users/present.ts';

export function approvalRule(
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
