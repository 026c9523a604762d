/** Audit events of the protection rules of branches, tags and environments. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, EnvironmentRule, RuleGrant, RuleLevel, TagRule } from '../../records/refs.ts';
import type { BranchRuleChange } from '../../store/refs/protection-rules.ts';
import { type Audited, auditedResource } from '../audit-events/event.ts';

/** Display names of rule levels. */
export const RULE_LEVEL_NAMES: Readonly<Record<RuleLevel, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
};

export const auditedBranchRule = (
  action: 'add' | 'remove',
  project: ProjectRecord,
  rule: BranchRule,
): Audited => ({
  entity: auditedResource('Project', project),
  details: {
    [action]: 'protected_branch',
    ...target(rule),
    push_access_levels: namesOf(rule.push),
    merge_access_levels: namesOf(rule.merge),
    allow_force_push: rule.allowForcePush,
  },
});

const namesOf = (grants: readonly RuleGrant[]): string[] =>
  grants.map((grant) => {
    if ('level' in grant) return RULE_LEVEL_NAMES[grant.level];
    return 'userId' in grant ? `User ${grant.userId}` : `Group ${grant.groupId}`;
  });

/** One event for each change. */
export function auditedChanges(
  project: ProjectRecord,
  previous: BranchRule,
  current: BranchRuleChange,
): Audited[] {
  const changed = { ...previous, ...current };
  const recorded = (rule: BranchRule) => ({
    'allowed to push': namesOf(rule.push).join(', '),
    'allowed to merge': namesOf(rule.merge).join(', '),
    'allowed to unprotect': namesOf(rule.unprotect).join(', '),
    'allow force push': rule.allowForcePush,
    'code owner approval required': rule.codeOwnerApproval,
  });
  const [from, to] = [recorded(previous), recorded(changed)];
  return (Object.keys(from) as (keyof typeof from)[])
    .filter((change) => from[change] !== to[change])
    .map((change) => ({
      entity: auditedResource('Project', project),
      details: { change, from: from[change], to: to[change], ...target(previous) },
    }));
}

export const auditedTagRule = (action: 'add' | 'remove', project: ProjectRecord, rule: TagRule): Audited => ({
  entity: auditedResource('Project', project),
  details: {
    [action]: 'protected_tag',
    target_id: undefined,
    target_type: 'ProtectedTag',
    target_details: rule.name,
    create_access_levels: namesOf(rule.create),
  },
});

export const auditedEnvironmentRule = (
  action: 'add' | 'remove',
  project: ProjectRecord,
  rule: EnvironmentRule,
): Audited => ({
  entity: auditedResource('Project', project),
  details: {
    [action]: 'protected_environment',
    target_id: undefined,
    target_type: 'ProtectedEnvironment',
    target_details: rule.name,
    deploy_access_levels: namesOf(rule.deploy),
  },
});

const target = ({ id, name }: BranchRule) => ({
  target_id: id,
  target_type: 'ProtectedBranch',
  target_details: name,
});
