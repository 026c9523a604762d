import type { Actor } from '../../domain/actor.ts';
import type { Branch } from '../../domain/branches/branches.ts';
import type { Grantees } from '../../domain/project-relations/grantees.ts';
import type { BranchProtection } from '../../domain/refs/protection.ts';
import { RULE_LEVEL_NAMES } from '../../domain/refs/rule-audit.ts';
import type { BranchRule, RuleGrant } from '../../records/refs.ts';
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
export function protectedBranch(rule: BranchRule, grantees: Grantees) {
  return {
    id: rule.id,
    name: rule.name,
    push_access_levels: accessLevels(rule.push, grantees),
    merge_access_levels: accessLevels(rule.merge, grantees),
    unprotect_access_levels: accessLevels(rule.unprotect, grantees),
    allow_force_push: rule.allowForcePush,
    code_owner_approval_required: rule.codeOwnerApproval,
  };
}

/** The grants of a rule, without those of users and groups that do not exist any more. */
export const accessLevels = (grants: readonly RuleGrant[], { users, groups }: Grantees) =>
  grants.flatMap((grant) => {
    const none = { access_level: null, user_id: null, group_id: null };
    const shown = (description: string, of: object) => [
      { id: grant.id, access_level_description: description, ...none, ...of },
    ];
    if ('level' in grant) return shown(RULE_LEVEL_NAMES[grant.level], { access_level: grant.level });
    if ('userId' in grant) {
      const name = users.get(grant.userId);
      return name === undefined ? [] : shown(name, { user_id: grant.userId });
    }
    const name = groups.get(grant.groupId);
    return name === undefined ? [] : shown(name ?? 'Group', { group_id: grant.groupId });
  });
