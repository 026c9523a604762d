/** What answers about the approvals of a merge request show. */

import type { ApprovalRule } from '../../records/approvals.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { UserRecord } from '../../records/users.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type RuleDetails, ruleDetails } from './details.ts';
import { type EvaluatedApprovals, evaluateApprovals } from './evaluate.ts';
import type { RuleState } from './state.ts';

export interface ShownApprovals extends EvaluatedApprovals {
  /** Those who approved, the earliest first; without deleted accounts. */
  readonly approvedBy: readonly UserRecord[];
  readonly hasApproved: boolean;
  readonly mayApprove: boolean;
}

/** @param writes whether the actor may approve anything in the project */
export async function shownApprovals(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  record: MergeRequestRecord,
  writes: boolean,
): Promise<ShownApprovals> {
  const userId = actor.kind === 'user' ? actor.user.id : undefined;
  const evaluated = await evaluateApprovals(deps, access, record, userId === undefined ? [] : [userId]);
  const { state, users } = evaluated;
  return {
    ...evaluated,
    approvedBy: record.approvals.flatMap((approval) => users.get(approval.userId) ?? []),
    hasApproved: record.approvals.some((approval) => approval.userId === userId),
    mayApprove: writes && record.state === 'opened' && userId !== undefined && state.mayApprove(userId),
  };
}

export interface RuleStateDetails {
  /** Undefined: the number of approvals that the settings ask for. */
  readonly details: RuleDetails | undefined;
  readonly state: RuleState;
  readonly approvedBy: readonly UserRecord[];
  /** The rule of the project that a rule of the merge request stands for. */
  readonly source: ApprovalRule | undefined;
}

/** The rules that are in force, with what they name. */
export async function ruleStateDetails(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { state, users, projectRules }: EvaluatedApprovals,
): Promise<RuleStateDetails[]> {
  const rules = state.rules.flatMap(({ rule }) => rule ?? []);
  const details = await ruleDetails(deps, actor, access, rules);
  return state.rules.map((each) => ({
    details: details.find(({ rule }) => rule === each.rule),
    state: each,
    approvedBy: each.approvedBy.flatMap((id) => users.get(id) ?? []),
    source: projectRules.rules.find(({ id }) => id === (each.rule?.sourceRuleId ?? 0)),
  }));
}
