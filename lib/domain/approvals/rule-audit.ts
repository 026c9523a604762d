/** Audit events of approval rules. */

import type { ApprovalRule } from '../../records/approvals.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type Audited, auditedResource } from '../audit-events/event.ts';

export const auditedApprovalRule = (
  action: 'add' | 'remove',
  project: ProjectRecord,
  rule: ApprovalRule,
): Audited => ({
  entity: auditedResource('Project', project),
  details: {
    [action]: 'approval_rule',
    ...target(rule),
    approvals_required: rule.approvalsRequired,
    approvers: approversOf(rule),
  },
});

/** One event for each change. */
export function auditedRuleChanges(
  project: ProjectRecord,
  previous: ApprovalRule,
  current: ApprovalRule,
): Audited[] {
  const [from, to] = [recorded(previous), recorded(current)];
  return (Object.keys(from) as (keyof typeof from)[])
    .filter((change) => from[change] !== to[change])
    .map((change) => ({
      entity: auditedResource('Project', project),
      details: { change, from: from[change], to: to[change], ...target(current) },
    }));
}

const recorded = (rule: ApprovalRule) => ({
  'name of approval rule': rule.name,
  'number of required approvals': rule.approvalsRequired,
  approvers: approversOf(rule),
  'branches of approval rule': branchesOf(rule),
});

const approversOf = ({ userIds, groupIds }: ApprovalRule): string =>
  [...userIds.map((id) => `User ${id}`), ...groupIds.map((id) => `Group ${id}`)].join(', ');

const branchesOf = ({ allProtectedBranches, protectedBranchIds }: ApprovalRule): string => {
  if (allProtectedBranches) return 'All protected branches';
  return protectedBranchIds.length === 0
    ? 'All branches'
    : protectedBranchIds.map((id) => `Protected branch ${id}`).join(', ');
};

const target = ({ id, name }: ApprovalRule) => ({
  target_id: id,
  target_type: 'ApprovalProjectRule',
  target_details: name,
});
