/** Judges the approvals of a merge request by what holds now. */

import type { ApprovalRule, ApprovalRules } from '../../records/approvals.ts';
import type { MergeRequestRecord, OwnedFiles } from '../../records/merge-requests.ts';
import type { BranchRule } from '../../records/refs.ts';
import type { UserRecord } from '../../records/users.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { OWNER } from '../access/levels.ts';
import { projectAccess } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { once } from '../once.ts';
import { RuleSet } from '../refs/pattern.ts';
import type { committersOf } from './committers.ts';
import { attainable, ownerRules } from './owner-rules.ts';
import { type ApprovalSettings, approvalSettings } from './settings.ts';
import { type ApprovalState, approvalState, type Candidate, type TargetProtection } from './state.ts';

type Approvable = Pick<
  MergeRequestRecord,
  | 'projectId'
  | 'iid'
  | 'author'
  | 'approvals'
  | 'approvalsBeforeMerge'
  | 'targetBranch'
  | 'diff'
  | 'verdict'
  | 'createdAt'
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
  const owned = record.verdict?.owned ?? [];
  const [settings, { project: projectRules, own: ownRules }] = await Promise.all([
    approvalSettings(deps, access),
    deps.store.approvalRules.forMergeRequest(projectId, iid),
  ]);
  const rules = [...projectRules.rules, ...ownRules.rules];
  const ids = [...new Set([...approvals.map(({ userId }) => userId), ...askedIds])];
  const committed = once(() =>
    settings.allow_committer_approval ? Promise.resolve(() => false) : committers(deps, access, diff),
  );
  const [users, { protections, ...target }] = await Promise.all([
    ids.length === 0 ? [] : deps.store.users.getMany(ids),
    targetProtection(deps, record, rules, owned),
    ids.length === 0 ? undefined : committed(),
  ]);
  const owners = ownerRules(deps, access, record, owned, protections);
  const known = users.flatMap((user) => user ?? []);
  const groupIds = [...new Set([...rules, ...owners].flatMap((rule) => rule.groupIds))];
  const candidates = new Map<number, Candidate>();
  const addCandidates = async (added: readonly UserRecord[]) => {
    if (added.length === 0) return;
    const isCommitter = await committed();
    const found = added.map((user) => candidateOf(deps, access, user, groupIds, isCommitter(user.id)));
    for (const each of await Promise.all(found)) candidates.set(each.userId, each);
  };
  await addCandidates(known);
  const judged = { settings, record };
  const approvedBy = approvals.map(({ userId }) => candidates.get(userId));
  const candidatesOf = async (userIds: readonly number[]) => {
    const missing = userIds.filter((id) => !candidates.has(id));
    const found = missing.length === 0 ? [] : await deps.store.users.getMany(missing);
    await addCandidates(found.flatMap((user) => user ?? []));
    return userIds.map((id) => candidates.get(id));
  };
  const state = approvalState({
    ...judged,
    rules: projectRules.rules,
    ownRules: ownRules.rules,
    ownerRules: await attainable(deps, judged, owners, owned, approvedBy, candidatesOf),
    target,
    candidates,
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

/** Reads nothing where every rule is for every branch, and no code owners are found. */
async function targetProtection(
  deps: Deps,
  { projectId, targetBranch }: Approvable,
  rules: readonly ApprovalRule[],
  owned: readonly OwnedFiles[],
): Promise<TargetProtection & { readonly protections: readonly BranchRule[] }> {
  const scoped = rules.some((rule) => rule.allProtectedBranches || rule.protectedBranchIds.length > 0);
  const all = scoped || owned.length > 0 ? await deps.store.refRules.list(projectId, 'branch') : [];
  const protections = new RuleSet(all).matching(targetBranch);
  return {
    protections,
    matchingIds: new Set(protections.map(({ id }) => id)),
    allIds: new Set(all.map(({ id }) => id)),
  };
}

/** Whether it has the approvals that it needs. */
export const isApproved = async (deps: Deps, access: ProjectAccess, record: Approvable): Promise<boolean> =>
  (await evaluateApprovals(deps, access, record)).state.approved;
