/** Judges the approvals of a merge request by what holds now. */

import type { ApprovalRule, ApprovalRules } from '../../records/approvals.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { UserRecord } from '../../records/users.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { OWNER } from '../access/levels.ts';
import { projectAccess } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { RuleSet } from '../refs/pattern.ts';
import type { committersOf } from './committers.ts';
import { type ApprovalSettings, approvalSettings } from './settings.ts';
import { type ApprovalState, approvalState, type Candidate, type TargetProtection } from './state.ts';

type Approvable = Pick<
  MergeRequestRecord,
  'projectId' | 'iid' | 'author' | 'approvals' | 'approvalsBeforeMerge' | 'targetBranch' | 'diff'
>;

export interface EvaluatedApprovals {
  readonly settings: ApprovalSettings;
  readonly projectRules: ApprovalRules;
  /** Rules of the merge request. */
  readonly ownRules: ApprovalRules;
  readonly state: ApprovalState;
  /** Those who approved, and those who were asked about. */
  readonly users: ReadonlyMap<number, UserRecord>;
}

/** @param askedIds users about whom `mayApprove` will be asked */
export async function evaluateApprovals(
  deps: Deps,
  access: ProjectAccess,
  record: Approvable,
  askedIds: readonly number[] = [],
): Promise<EvaluatedApprovals> {
  const { projectId, iid, approvals, diff } = record;
  const [settings, { project: projectRules, own: ownRules }] = await Promise.all([
    approvalSettings(deps, access),
    deps.store.approvalRules.forMergeRequest(projectId, iid),
  ]);
  const rules = [...projectRules.rules, ...ownRules.rules];
  const ids = [...new Set([...approvals.map(({ userId }) => userId), ...askedIds])];
  const [users, target, committed] = await Promise.all([
    ids.length === 0 ? [] : deps.store.users.getMany(ids),
    targetProtection(deps, record, rules),
    ids.length === 0 || settings.allow_committer_approval ? () => false : committers(deps, access, diff),
  ]);
  const known = users.flatMap((user) => user ?? []);
  const groupIds = [...new Set(rules.flatMap((rule) => rule.groupIds))];
  const candidates = await Promise.all(
    known.map((user) => candidateOf(deps, access, user, groupIds, committed(user.id))),
  );
  const state = approvalState({
    settings,
    rules: projectRules.rules,
    ownRules: ownRules.rules,
    record,
    target,
    candidates: new Map(candidates.map((each) => [each.userId, each])),
  });
  return { settings, projectRules, ownRules, state, users: new Map(known.map((user) => [user.id, user])) };
}

/** The code that reads commits is loaded where writers may not approve: few projects ask for that. */
async function committers(...version: Parameters<typeof committersOf>): ReturnType<typeof committersOf> {
  const { committersOf } = await import('./committers.ts');
  return committersOf(...version);
}

async function candidateOf(
  deps: Deps,
  { project }: ProjectAccess,
  user: UserRecord,
  groupIds: readonly number[],
  committed: boolean,
): Promise<Candidate> {
  const viewer = { kind: 'user', user } as const;
  const sources = groupIds.map((id) => ({ kind: 'group', id }) as const);
  const [access, memberships] = await Promise.all([
    projectAccess(viewer, project, new MembershipCache(deps)),
    sources.length === 0 ? [] : deps.store.members.ofUserIn(user.id, sources),
  ]);
  return {
    userId: user.id,
    level: isAdministrator(viewer) ? OWNER : (access?.level ?? 0),
    active: user.state === 'active',
    groupIds: new Set(groupIds.filter((_, i) => memberships[i] !== undefined)),
    committed,
  };
}

/** Reads nothing where every rule is for every branch. */
async function targetProtection(
  deps: Deps,
  { projectId, targetBranch }: Approvable,
  rules: readonly ApprovalRule[],
): Promise<TargetProtection> {
  const scoped = rules.some((rule) => rule.allProtectedBranches || rule.protectedBranchIds.length > 0);
  const all = scoped ? await deps.store.refRules.list(projectId, 'branch') : [];
  return {
    matchingIds: new Set(new RuleSet(all).matching(targetBranch).map(({ id }) => id)),
    allIds: new Set(all.map(({ id }) => id)),
  };
}

/** Whether it has the approvals that it needs. */
export const isApproved = async (deps: Deps, access: ProjectAccess, record: Approvable): Promise<boolean> =>
  (await evaluateApprovals(deps, access, record)).state.approved;
