import type { Actor } from '../../domain/actor.ts';
import type { Branch } from '../../domain/branches/branches.ts';
import type { BranchProtection } from '../../domain/refs/protection.ts';
import { RULE_LEVEL_NAMES } from '../../domain/refs/rule-audit.ts';
import type { BranchRule, RuleLevel } from '../../records/refs.ts';
import { commitBasic } from '../commits/present.ts';

/** @param actor the caller, for `can_push` */
export function branch(record: Branch, projectUrl: string, protection: BranchProtection, actor: Actor) {
  return {
    name: record.name,
    commit: commitBasic(record.tip, projectUrl),
    merged: record.merged,
    protected: protection.isProtected(record.name),
    developers_can_push: protection.developersMay('push', record.name),
    developers_can_merge: protection.developersMay('merge', record.name),
    can_push: protection.mayPush(actor, record.name),
    default: record.isDefault,
    web_url: `${projectUrl}/-/tree/${record.name.split('/').map(encodeURIComponent).join('/')}`,
  };
}

/** A rule that protects branches, as the protected branches API returns it. */
export function protectedBranch(rule: BranchRule) {
  return {
    id: rule.id,
    name: rule.name,
    push_access_levels: [accessLevel(rule.pushLevel)],
    merge_access_levels: [accessLevel(rule.mergeLevel)],
    allow_force_push: rule.allowForcePush,
  };
}

export const accessLevel = (level: RuleLevel) => ({
  access_level: level,
  access_level_description: RULE_LEVEL_NAMES[level],
});
