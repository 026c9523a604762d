/** Minimum access level that a rule requires: 30 Developer, 40 Maintainer, 60 administrator; 0: nobody. */
export const RULE_LEVELS = [0, 30, 40, 60] as const;

export type RuleLevel = (typeof RULE_LEVELS)[number];

/**
 * Who may do something by a rule: everybody from a level on, one user, or the direct members of a group. Its id is unique
 * within the rule.
 */
export type RuleGrant =
  | { readonly id: number; readonly level: RuleLevel }
  | { readonly id: number; readonly userId: number }
  | { readonly id: number; readonly groupId: number };

/** Protects the branches that match a name or a pattern, in which `*` matches any text. */
export interface BranchRule {
  readonly kind: 'branch';
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly push: readonly RuleGrant[];
  readonly merge: readonly RuleGrant[];
  /** Who of those that may change settings may change or delete this rule. */
  readonly unprotect: readonly RuleGrant[];
  readonly allowForcePush: boolean;
  readonly codeOwnerApproval: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Protects the tags that match a name or pattern. */
export interface TagRule {
  readonly kind: 'tag';
  readonly projectId: number;
  readonly name: string;
  readonly create: readonly RuleGrant[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Protects the environment of exactly this name, also before there is one. */
export interface EnvironmentRule {
  readonly kind: 'environment';
  readonly projectId: number;
  readonly name: string;
  readonly deploy: readonly RuleGrant[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type RefRule = BranchRule | TagRule | EnvironmentRule;
