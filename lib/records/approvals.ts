/** `any_approver`: everybody who may approve at all. `regular`: the users it names, and the members of its groups. */
export const APPROVAL_RULE_TYPES = ['any_approver', 'regular'] as const;

/** `code_owner`: as `regular`, made by CODEOWNERS of what a merge request changes. */
export const SHOWN_RULE_TYPES = [...APPROVAL_RULE_TYPES, 'code_owner'] as const;

/**
 * How many approvals merge requests need, and of whom. A user, group or protected branch that does not exist any more
 * stands for nothing.
 */
export interface ApprovalRule {
  /** Unique on the instance. */
  readonly id: number;
  /** Unique in its set, case-sensitive. */
  readonly name: string;
  readonly type: (typeof SHOWN_RULE_TYPES)[number];
  /** Of CODEOWNERS. Absent: another type. */
  readonly section?: string;
  /** At most {@link MAX_APPROVALS}. */
  readonly approvalsRequired: number;
  readonly userIds: readonly number[];
  /** Groups whose direct members may approve. */
  readonly groupIds: readonly number[];
  /** Ids of the rules that protect the target branches it is for. Empty: every branch. */
  readonly protectedBranchIds: readonly number[];
  /** Whether it is for all protected branches instead. */
  readonly allProtectedBranches: boolean;
  /** Of a rule of a merge request: the rule of the project that it stands for there; null: it is one more. */
  readonly sourceRuleId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The rules of a project, or those that one merge request has of its own. */
export interface ApprovalRules {
  readonly projectId: number;
  /** Number of the merge request; null: they are the project's. */
  readonly iid: number | null;
  /** Oldest first. */
  readonly rules: readonly ApprovalRule[];
  /** Raised by each change; 0: never written. */
  readonly version: number;
}

/** Maximum number of approvals that can be required: a merge request keeps as many. */
export const MAX_APPROVALS = 100;
