/** The approval rules that CODEOWNERS makes of what a merge request changes. */

import type { ApprovalRule } from '../../records/approvals.ts';
import type { MergeRequestRecord, OwnedFiles } from '../../records/merge-requests.ts';
import type { BranchRule } from '../../records/refs.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { hasAccess } from '../refs/rule-grants.ts';
import { type Candidate, countsFor } from './state.ts';

/**
 * They ask for approvals where one of these rules protects the target branch and asks for code owners, and are optional
 * otherwise. Groups count which the project is in, or shared with.
 * @param protections the rules that match the target branch
 */
export function ownerRules(
  deps: Deps,
  { project }: Pick<ProjectAccess, 'project'>,
  { createdAt }: Pick<MergeRequestRecord, 'createdAt'>,
  owned: readonly OwnedFiles[],
  protections: readonly BranchRule[],
): ApprovalRule[] {
  const isAsked = protections.some(({ codeOwnerApproval }) => codeOwnerApproval);
  const now = deps.now();
  return owned.map(
    ({ id, section, pattern, approvalsRequired, userIds, groupIds }): ApprovalRule => ({
      id,
      name: pattern,
      type: 'code_owner',
      section,
      approvalsRequired: isAsked ? approvalsRequired : 0,
      userIds,
      groupIds: groupIds.filter((groupId) => hasAccess(project, groupId, now)),
      protectedBranchIds: [],
      allProtectedBranches: false,
      sourceRuleId: null,
      createdAt,
      updatedAt: createdAt,
    }),
  );
}

/** Owners that are looked up at once. */
const LOOKED_UP_AT_ONCE = 10;
/** Members of the groups of one rule that are looked up. */
const MAX_MEMBERS = 50;

/**
 * The rules, without requirements that nobody can meet: where no owner may approve the merge request, a rule is optional.
 * Owners are looked up where those who approved do not show that there is one.
 * @param owned what the rules were made of
 * @param approvedBy those who approved
 * @param candidatesOf looks up users; undefined: not there
 */
export async function attainable(
  deps: Deps,
  judged: Parameters<typeof countsFor>[0],
  rules: readonly ApprovalRule[],
  owned: readonly OwnedFiles[],
  approvedBy: readonly (Candidate | undefined)[],
  candidatesOf: (userIds: readonly number[]) => Promise<readonly (Candidate | undefined)[]>,
): Promise<ApprovalRule[]> {
  const result: ApprovalRule[] = [];
  const unknown = new Set(owned.flatMap((each) => (each.unknown ? [each.id] : [])));
  for (const rule of rules) {
    const counts = (candidate: Candidate | undefined) => countsFor(judged, rule, candidate);
    const isOneOf = async (userIds: readonly number[]) => {
      for (let i = 0; i < userIds.length; i += LOOKED_UP_AT_ONCE)
        if ((await candidatesOf(userIds.slice(i, i + LOOKED_UP_AT_ONCE))).some(counts)) return true;
      return false;
    };
    const isKept =
      rule.approvalsRequired === 0 ||
      unknown.has(rule.id) ||
      approvedBy.some(counts) ||
      (await isOneOf(rule.userIds)) ||
      (await isOfGroups(deps, rule, isOneOf));
    result.push(isKept ? rule : { ...rule, approvalsRequired: 0 });
  }
  return result;
}

/** Whether it holds of direct members of the groups of a rule; also where they are more than are looked up. */
async function isOfGroups(
  { store }: Deps,
  { groupIds }: ApprovalRule,
  isOneOf: (userIds: readonly number[]) => Promise<boolean>,
): Promise<boolean> {
  if (groupIds.length === 0) return false;
  const sources = groupIds.map((id) => ({ source: { kind: 'group', id } as const }));
  const { items, more } = await store.members.listAll(sources, { page: 1, perPage: MAX_MEMBERS });
  return (await isOneOf(items.map(({ userId }) => userId))) || more === true;
}
