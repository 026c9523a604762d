/** Audit events of the protection rules of branches, tags and environments. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, RefRule, RuleGrant, RuleLevel } from '../../records/refs.ts';
import type { BranchRuleChange } from '../../store/refs/protection-rules.ts';
import { type Audited, auditedResource } from '../audit-events/event.ts';

/** Display names of rule levels. */
export const RULE_LEVEL_NAMES: Readonly<Record<RuleLevel, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
};

export const auditedRule = (action: 'add' | 'remove', project: ProjectRecord, rule: RefRule): Audited => ({
  entity: auditedResource('Project', project),
  details: { [action]: `protected_${rule.kind}`, ...target(rule), ...recordedGrants(rule) },
});

function recordedGrants(rule: RefRule) {
  if (rule.kind === 'tag') return { create_access_levels: namesOf(rule.create) };
  if (rule.kind === 'environment') return { deploy_access_levels: namesOf(rule.deploy) };
  return {
    push_access_levels: namesOf(rule.push),
    merge_access_levels: namesOf(rule.merge),
    allow_force_push: rule.allowForcePush,
  };
}

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

const TYPES = {
  branch: 'ProtectedBranch',
  tag: 'ProtectedTag',
  environment: 'ProtectedEnvironment',
} as const;

/** Rules of branches alone have ids. */
const target = (rule: RefRule) => ({
  target_id: rule.kind === 'branch' ? rule.id : undefined,
  target_type: TYPES[rule.kind],
  target_details: rule.name,
});
