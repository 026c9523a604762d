/** The approval rules that a merge request has of its own. */

import type { ApprovalRule, ApprovalRules } from '../../records/approvals.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { APPROVAL_RULES, replaced } from '../../store/approvals/rules.ts';
import { TransactionRefused } from '../../store/errors.ts';
import { mergeRequestTodos } from '../../store/todos/todos.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { evaluateApprovals } from '../approvals/evaluate.ts';
import {
  type ApprovalRuleInput,
  changedRule,
  type NewApprovalRule,
  newRule,
  ruleIn,
} from '../approvals/rules.ts';
import { approvalSettings } from '../approvals/settings.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, invalid, recordNotFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { changeMergeRequest } from './change.ts';
import { checkedForApproval } from './checked-for-approval.ts';
import { getMergeRequest } from './find.ts';
import { namesApprovers } from './told.ts';

/** Those that people made, the oldest first, then those of code owners. @throws `404 Not found` */
export async function listOwnRules(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<readonly ApprovalRule[]> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const { record } = await checkedForApproval(deps, access, mergeRequest);
  if (record.verdict?.owned === undefined)
    return (await deps.store.approvalRules.of(access.project.id, iid)).rules;
  const { ownRules, state } = await evaluateApprovals(deps, access, record);
  const shown = state.rules.flatMap(({ rule }) => (rule?.type === 'code_owner' ? [rule] : []));
  return [...ownRules.rules, ...shown];
}

/** @throws `404 Not found` */
export async function getOwnRule(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  id: number,
): Promise<ApprovalRule> {
  const rule = (await listOwnRules(deps, actor, access, iid)).find((each) => each.id === id);
  if (rule === undefined) throw recordNotFound();
  return rule;
}

/**
 * @param sourceRuleId the rule of the project that it stands for: its name, users and groups are taken over
 * @throws 400 by field, also for fewer approvals than that rule asks for; 403 for who may not change the merge request,
 *   and where the settings let none have rules; `404 Not found`
 */
export const createOwnRule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  { sourceRuleId, ...input }: NewApprovalRule & { readonly sourceRuleId?: number | undefined },
): Promise<ApprovalRule> =>
  changed(deps, actor, access, iid, async (own, ofProject) => {
    if (sourceRuleId === undefined) {
      const rule = await newRule(deps, actor, access, own, input);
      return { rule, rules: [...own.rules, rule] };
    }
    const source = ruleIn(ofProject, sourceRuleId);
    if (own.rules.some((each) => each.sourceRuleId === sourceRuleId))
      throw invalid({ approval_project_rule: ['has already been taken'] });
    requireEnough(input.approvalsRequired, source);
    const { name, type } = source;
    const plain = await newRule(deps, actor, access, own, {
      name,
      type,
      approvalsRequired: input.approvalsRequired,
    });
    // Who made the rule of the project could name groups that the caller cannot see.
    const rule = { ...plain, userIds: source.userIds, groupIds: source.groupIds, sourceRuleId };
    return { rule, rules: [...own.rules, rule] };
  });

/** @throws as {@link createOwnRule}; 403 for a rule that CODEOWNERS makes */
export const changeOwnRule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  id: number,
  input: ApprovalRuleInput,
): Promise<ApprovalRule> =>
  changed(deps, actor, access, iid, async (own, ofProject, record) => {
    requireMade(record, id);
    const rule = await changedRule(deps, actor, access, own, ruleIn(own, id), input);
    const source = ofProject.rules.find((each) => each.id === rule.sourceRuleId);
    if (source !== undefined) requireEnough(rule.approvalsRequired, source);
    return { rule, rules: own.rules.map((each) => (each.id === id ? rule : each)) };
  });

/**
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws as {@link createOwnRule}; 403 for a rule that CODEOWNERS makes
 */
export const removeOwnRule = async (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> => {
  await changed(deps, actor, access, iid, async (own, _, record) => {
    requireMade(record, id);
    const rule = ruleIn(own, id);
    unchanged(rule.updatedAt);
    return { rule, rules: own.rules.filter((each) => each.id !== id) };
  });
};

/** Sets how many approvals of anybody it asks for. @throws 403 as {@link createOwnRule}; `404 Not found` */
export async function setApprovalsRequired(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  approvalsBeforeMerge: number,
): Promise<MergeRequestRecord> {
  const { allow_overrides_to_approver_list_per_merge_request: allowed } = await approvalSettings(
    deps,
    access,
  );
  return changeMergeRequest(deps, actor, access, iid, (before) => {
    requireMayChange(actor, access, before, allowed);
    return { approvalsBeforeMerge, updatedAt: deps.now().toISOString() };
  });
}

const requireEnough = (approvalsRequired: number, source: ApprovalRule): void => {
  if (approvalsRequired >= source.approvalsRequired) return;
  const problem = `must be greater than or equal to ${source.approvalsRequired}`;
  throw invalid({ approvals_required: [problem] });
};

/** @throws 403 for a rule that CODEOWNERS makes */
function requireMade({ verdict }: MergeRequestRecord, id: number): void {
  if (verdict?.owned?.some((each) => each.id === id)) throw forbidden();
}

function requireMayChange(
  actor: Actor,
  access: ProjectAccess,
  { author, state }: MergeRequestRecord,
  allowed: boolean,
): void {
  const isAuthor = author.id === signedIn(actor).user.id && can(actor, access, 'approve_merge_request');
  const may = isAuthor || can(actor, access, 'update_merge_request');
  if (!may || !allowed || state === 'merged') throw forbidden();
}

/** Whom a rule names, and did not before. */
const newlyNamed = (before: ApprovalRule | undefined, { userIds, groupIds }: ApprovalRule) => ({
  userIds: userIds.filter((id) => before?.userIds.includes(id) !== true),
  groupIds: groupIds.filter((id) => before?.groupIds.includes(id) !== true),
});

/** Changes the rules in a transaction that fails where the merge request has changed. */
async function changed(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  change: (
    own: ApprovalRules,
    ofProject: ApprovalRules,
    record: MergeRequestRecord,
  ) => Promise<{ readonly rule: ApprovalRule; readonly rules: readonly ApprovalRule[] }>,
): Promise<ApprovalRule> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const { allow_overrides_to_approver_list_per_merge_request: allowed } = await approvalSettings(
    deps,
    access,
  );
  requireMayChange(actor, access, mergeRequest, allowed);
  const lost = (error: unknown) => error instanceof TransactionRefused && error.has(APPROVAL_RULES);
  try {
    return await retryOnConflict(async () => {
      const { own, project } = await deps.store.approvalRules.forMergeRequest(access.project.id, iid);
      const { rule, rules } = await change(own, project, mergeRequest);
      const named = own.rules.find(({ id }) => id === rule.id);
      const isAsking = rules.includes(rule) && namesApprovers(newlyNamed(named, rule));
      const messages = isAsking
        ? mergeRequestTodos(mergeRequest, {
            authorId: signedIn(actor).user.id,
            approvalRules: [rule.id],
          })
        : [];
      await changeMergeRequest(
        deps,
        actor,
        access,
        iid,
        (before) => {
          requireMayChange(actor, access, before, allowed);
          return { updatedAt: deps.now().toISOString() };
        },
        { alongside: [replaced(own, rules)], messages },
      );
      return rule;
    }, lost);
  } catch (error) {
    throw lost(error) ? conflict('409 Conflict: Resource lock') : error;
  }
}
