/** Who may do what a rule is about: 0 nobody, 30 Developers, 40 Maintainers, each with those above, 60 administrators. */
export const RULE_LEVELS = [0, 30, 40, 60] as const;

export type RuleLevel = (typeof RULE_LEVELS)[number];

/** Protects the branches of a name, or of a pattern in which `*` stands for any text. */
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

/** Protects the tags of a name or pattern. */
export interface TagRule {
  readonly kind: 'tag';
  readonly projectId: number;
  readonly name: string;
  readonly createLevel: RuleLevel;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type RefRule = BranchRule | TagRule;
