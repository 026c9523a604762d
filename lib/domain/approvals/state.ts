/** Whether a merge request has the approvals that it needs. Pure: everything it judges is given. */

import type { ApprovalRule } from '../../records/approvals.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { MergeRequestFields } from '../../records/merge-requests.ts';
import { DEVELOPER, REPORTER } from '../access/levels.ts';
import type { ApprovalSettings } from './settings.ts';

/** Somebody who approved, or might. */
export interface Candidate {
  readonly userId: number;
  /** In the project; of an administrator the highest. */
  readonly level: AccessLevel | 0;
  /** Whether the account may act at all. */
  readonly active: boolean;
  /** The groups of rules that they are direct members of. */
  readonly groupIds: ReadonlySet<number>;
  /** Whether they are an author or committer of a commit of the merge request. */
  readonly committed: boolean;
}

/** Where a merge request goes. */
export interface TargetProtection {
  /** Ids of the rules that protect its target branch. */
  readonly matchingIds: ReadonlySet<number>;
  /** Ids of all rules that protect branches of the project. */
  readonly allIds: ReadonlySet<number>;
}

export interface ApprovalInput {
  readonly settings: ApprovalSettings;
  /** Rules of the project. */
  readonly rules: readonly ApprovalRule[];
  /** Rules of the merge request. */
  readonly ownRules: readonly ApprovalRule[];
  /** Rules of code owners. */
  readonly ownerRules: readonly ApprovalRule[];
  readonly record: Pick<MergeRequestFields, 'author' | 'approvals' | 'approvalsBeforeMerge'>;
  readonly target: TargetProtection;
  /** Those who approved, by id, and whoever else is asked about. One who is absent counts for nothing. */
  readonly candidates: ReadonlyMap<number, Candidate>;
}

export interface RuleState {
  /** Null: the number of approvals that the settings ask for, of anybody. */
  readonly rule: ApprovalRule | null;
  readonly approvalsRequired: number;
  /** Those whose approvals count for it, the earliest first. */
  readonly approvedBy: readonly number[];
  readonly approvalsLeft: number;
  readonly approved: boolean;
}

export interface ApprovalState {
  /** Whether the merge request has rules of its own that count. */
  readonly overwritten: boolean;
  readonly rules: readonly RuleState[];
  /** The sum of all rules. */
  readonly approvalsRequired: number;
  readonly approvalsLeft: number;
  readonly approved: boolean;
  /** Whether somebody among the candidates could approve now. */
  readonly mayApprove: (userId: number) => boolean;
}

/**
 * A rule counts approvals of people who may approve by it now: who lost that after approving counts for nothing. A rule
 * that too few people can satisfy stays unsatisfied.
 */
export function approvalState(input: ApprovalInput): ApprovalState {
  const { settings, record, candidates } = input;
  const given = record.approvals.map(({ userId }) => userId);
  const ruleState = (rule: ApprovalRule | null, approvalsRequired: number): RuleState => {
    const approvedBy = given.filter((id) => countsFor(input, rule, candidates.get(id)));
    const approvalsLeft = Math.max(0, approvalsRequired - approvedBy.length);
    return { rule, approvalsRequired, approvedBy, approvalsLeft, approved: approvalsLeft === 0 };
  };
  const inForce = rulesInForce(input);
  // The project and the merge request may each have one: the stricter counts.
  const anybody = inForce
    .filter(({ type }) => type === 'any_approver')
    .sort((a, b) => b.approvalsRequired - a.approvalsRequired)[0];
  const byAnybody = requiredOfAnybody(settings, record, anybody);
  const rules = [
    ...(anybody !== undefined || byAnybody > 0 ? [ruleState(anybody ?? null, byAnybody)] : []),
    ...[...inForce.filter(({ type }) => type === 'regular'), ...input.ownerRules].map((rule) =>
      ruleState(rule, rule.approvalsRequired),
    ),
  ];
  const sum = (count: (state: RuleState) => number) => rules.reduce((total, each) => total + count(each), 0);
  return {
    overwritten: ownRulesOf(input).length > 0,
    rules,
    approvalsRequired: sum(({ approvalsRequired }) => approvalsRequired),
    approvalsLeft: sum(({ approvalsLeft }) => approvalsLeft),
    approved: rules.every(({ approved }) => approved),
    mayApprove: (userId) => {
      const candidate = candidates.get(userId);
      if (given.includes(userId)) return false;
      return [null, ...inForce, ...input.ownerRules].some((rule) => countsFor(input, rule, candidate));
    },
  };
}

interface Ruled extends Pick<ApprovalInput, 'rules' | 'ownRules' | 'target'> {
  readonly settings: Pick<ApprovalSettings, 'allow_overrides_to_approver_list_per_merge_request'>;
}

const ownRulesOf = ({ settings, ownRules }: Pick<Ruled, 'settings' | 'ownRules'>): readonly ApprovalRule[] =>
  settings.allow_overrides_to_approver_list_per_merge_request ? ownRules : [];

/** The rules that count for a merge request with this target. */
export const rulesInForce = (input: Ruled): readonly ApprovalRule[] =>
  joined(input.rules, ownRulesOf(input)).filter((rule) => appliesTo(rule, input.target));

/** A rule of the merge request takes the place of that of the project which it stands for, and asks for no fewer. */
function joined(rules: readonly ApprovalRule[], own: readonly ApprovalRule[]): readonly ApprovalRule[] {
  const replaced = new Map(
    own.flatMap((rule) => (rule.sourceRuleId === null ? [] : [[rule.sourceRuleId, rule]])),
  );
  const kept = rules.map((rule) => {
    const instead = replaced.get(rule.id);
    replaced.delete(rule.id);
    const { approvalsRequired, protectedBranchIds, allProtectedBranches } = rule;
    return instead === undefined
      ? rule
      : {
          ...instead,
          protectedBranchIds,
          allProtectedBranches,
          approvalsRequired: Math.max(approvalsRequired, instead.approvalsRequired),
        };
  });
  // What stood for a rule that is deleted since is one more.
  const more = own.filter(
    ({ id, sourceRuleId }) => sourceRuleId === null || replaced.get(sourceRuleId)?.id === id,
  );
  return [...kept, ...more];
}

/** A rule of protected branches that are all gone is for every branch, as one that never had any. */
function appliesTo(
  { allProtectedBranches, protectedBranchIds }: ApprovalRule,
  target: TargetProtection,
): boolean {
  if (allProtectedBranches) return target.matchingIds.size > 0;
  const existing = protectedBranchIds.filter((id) => target.allIds.has(id));
  return existing.length === 0 || existing.some((id) => target.matchingIds.has(id));
}

/** What a merge request asks for itself counts only where the project asks for some, and for fewer. */
function requiredOfAnybody(
  { approvals_before_merge: ofProject }: ApprovalSettings,
  { approvalsBeforeMerge: own }: ApprovalInput['record'],
  rule: ApprovalRule | undefined,
): number {
  const required = Math.max(ofProject, rule?.approvalsRequired ?? 0);
  return required > 0 ? Math.max(required, own ?? 0) : 0;
}

/** Whether an approval of somebody counts for a rule. @param rule null: any approver */
export function countsFor(
  { settings, record }: Pick<ApprovalInput, 'settings' | 'record'>,
  rule: ApprovalRule | null,
  candidate: Candidate | undefined,
): boolean {
  if (candidate === undefined || !candidate.active) return false;
  const { userId, level, groupIds, committed } = candidate;
  if (userId === record.author.id && !settings.allow_author_approval) return false;
  if (committed && !settings.allow_committer_approval) return false;
  if (rule === null || rule.type === 'any_approver') return level >= DEVELOPER;
  return level >= REPORTER && (rule.userIds.includes(userId) || rule.groupIds.some((id) => groupIds.has(id)));
}

/** The approvals that stay when the source branch has moved to other commits. */
export const approvalsAfterPush = (
  settings: Pick<ApprovalSettings, 'retain_approvals_on_push'>,
  { approvals }: Pick<MergeRequestFields, 'approvals'>,
): MergeRequestFields['approvals'] => (settings.retain_approvals_on_push ? approvals : []);
