/** Minimum access level that a rule requires: 30 Developer, 40 Maintainer, 60 administrator; 0: nobody. */
export const RULE_LEVELS = [0, 30, 40, 60] as const;

export type RuleLevel = (typeof RULE_LEVELS)[number];

/** Protects the branches that match a name or a pattern, in which `*` matches any text. */
export interface BranchRule {
  readonly kind: 'branch';
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly pushLevel: RuleLevel;
  readonly mergeLevel: RuleLevel;
  readonly allowForcePush: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Protects the tags that match a name or pattern. */
export interface TagRule {
  readonly kind: 'tag';
  readonly projectId: number;
  readonly name: string;
  readonly createLevel: RuleLevel;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type RefRule = BranchRule | TagRule;
