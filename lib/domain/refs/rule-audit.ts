/** Audit events of the protection rules of branches and tags. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, RuleLevel, TagRule } from '../../records/refs.ts';
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
    push_access_levels: [RULE_LEVEL_NAMES[rule.pushLevel]],
    merge_access_levels: [RULE_LEVEL_NAMES[rule.mergeLevel]],
    allow_force_push: rule.allowForcePush,
  },
});

type Levels = Pick<BranchRule, 'pushLevel' | 'mergeLevel'>;

/** One event for each changed level. */
export function auditedLevels(project: ProjectRecord, previous: BranchRule, current: Levels): Audited[] {
  const level = (name: keyof Levels, label: string): Audited[] =>
    previous[name] === current[name]
      ? []
      : [
          {
            entity: auditedResource('Project', project),
            details: {
              change: label,
              from: RULE_LEVEL_NAMES[previous[name]],
              to: RULE_LEVEL_NAMES[current[name]],
              ...target(previous),
            },
          },
        ];
  return [...level('pushLevel', 'allowed to push'), ...level('mergeLevel', 'allowed to merge')];
}

export const auditedTagRule = (action: 'add' | 'remove', project: ProjectRecord, rule: TagRule): Audited => ({
  entity: auditedResource('Project', project),
  details: {
    [action]: 'protected_tag',
    target_id: undefined,
    target_type: 'ProtectedTag',
    target_details: rule.name,
    create_access_levels: [RULE_LEVEL_NAMES[rule.createLevel]],
  },
});

const target = ({ id, name }: BranchRule) => ({
  target_id: id,
  target_type: 'ProtectedBranch',
  target_details: name,
});
