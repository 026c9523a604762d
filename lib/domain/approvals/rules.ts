/** The approval rules of a project, and those that a merge request has of its own. */

import { type ApprovalRule, type ApprovalRules, MAX_APPROVALS } from '../../records/approvals.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, type FieldProblems, invalid, notFound, recordNotFound } from '../errors.ts';
import { groupAccesses } from '../groups/details.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { auditedApprovalRule, auditedRuleChanges } from './rule-audit.ts';

/** Rules of a project or merge request: all are read, and judged, with each look at its approvals. */
const MAX_RULES = 30;
export const MAX_USERS = 100;
export const MAX_GROUPS = 10;
const MAX_NAME = 255;

/** What a request says of a rule; absent: as it was. */
export interface ApprovalRuleInput {
  readonly name?: string | undefined;
  readonly approvalsRequired?: number | undefined;
  /** With `usernames`: the users of both. */
  readonly userIds?: readonly number[] | undefined;
  readonly usernames?: readonly string[] | undefined;
  /** Groups that the caller cannot see stay. */
  readonly groupIds?: readonly number[] | undefined;
  readonly removeHiddenGroups?: boolean | undefined;
  readonly protectedBranchIds?: readonly number[] | undefined;
  readonly allProtectedBranches?: boolean | undefined;
}

export interface NewApprovalRule extends ApprovalRuleInput {
  readonly name: string;
  readonly approvalsRequired: number;
  /** Absent: `regular` where it names users or groups. */
  readonly type?: ApprovalRule['type'] | undefined;
}

/** Oldest first. */
export const listApprovalRules = async (
  deps: Deps,
  { project }: ProjectAccess,
): Promise<readonly ApprovalRule[]> => (await deps.store.approvalRules.of(project.id)).rules;

/** @throws 404 `404 Not found` */
export const getApprovalRule = async (
  deps: Deps,
  { project }: ProjectAccess,
  id: number,
): Promise<ApprovalRule> => ruleIn(await deps.store.approvalRules.of(project.id), id);

/** @throws 400 by field; 404 when the project is deleted meanwhile; 409 while others keep changing rules */
export const createApprovalRule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: NewApprovalRule,
): Promise<ApprovalRule> =>
  changed(deps, access, async (set) => {
    const rule = await newRule(deps, actor, access, set, input);
    const event = await audited(deps, actor, auditedApprovalRule('add', access.project, rule));
    await deps.store.approvalRules.replace(set, [...set.rules, rule], [event]);
    return rule;
  });

/** @throws 400 by field; `404 Not found`; 409 while others keep changing rules */
export const changeApprovalRule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  input: ApprovalRuleInput,
): Promise<ApprovalRule> =>
  changed(deps, access, async (set) => {
    const previous = ruleIn(set, id);
    const rule = await changedRule(deps, actor, access, set, previous, input);
    const changes = auditedRuleChanges(access.project, previous, rule);
    if (changes.length === 0) return previous;
    const events = await Promise.all(changes.map((event) => audited(deps, actor, event)));
    const next = set.rules.map((each) => (each.id === id ? rule : each));
    await deps.store.approvalRules.replace(set, next, events);
    return rule;
  });

/**
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws `404 Not found`; 409 while others keep changing rules
 */
export const removeApprovalRule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> =>
  changed(deps, access, async (set) => {
    const rule = ruleIn(set, id);
    unchanged(rule.updatedAt);
    const event = await audited(deps, actor, auditedApprovalRule('remove', access.project, rule));
    const next = set.rules.filter((each) => each.id !== id);
    await deps.store.approvalRules.replace(set, next, [event]);
  });

/** @throws 404 `404 Not found` */
export function ruleIn({ rules }: ApprovalRules, id: number): ApprovalRule {
  const rule = rules.find((each) => each.id === id);
  if (rule === undefined) throw recordNotFound();
  return rule;
}

/** Runs an attempt again while another change of the rules was first. */
async function changed<T>(
  deps: Deps,
  { project }: ProjectAccess,
  attempt: (set: ApprovalRules) => Promise<T>,
): Promise<T> {
  const lost = (error: unknown) => error instanceof Stale;
  try {
    return await retryOnConflict(async () => attempt(await deps.store.approvalRules.of(project.id)), lost);
  } catch (error) {
    if (lost(error)) throw conflict('409 Conflict: Resource lock');
    throw error instanceof Missing ? notFound('Project') : error;
  }
}

/** A rule that could be added to the set. @throws 400 by field */
export async function newRule(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  set: ApprovalRules,
  { type, ...input }: NewApprovalRule,
): Promise<ApprovalRule> {
  const names = [input.userIds, input.usernames, input.groupIds].some((each) => (each ?? []).length > 0);
  const at = deps.now().toISOString();
  const empty: ApprovalRule = {
    id: 0,
    name: '',
    type: type ?? (names ? 'regular' : 'any_approver'),
    approvalsRequired: 0,
    userIds: [],
    groupIds: [],
    protectedBranchIds: [],
    allProtectedBranches: false,
    sourceRuleId: null,
    createdAt: at,
    updatedAt: at,
  };
  if (set.rules.length >= MAX_RULES) throw invalid({ base: [`there are ${MAX_RULES} rules already`] });
  const rule = await changedRule(deps, actor, access, set, empty, input);
  return { ...rule, id: await deps.store.approvalRules.nextId() };
}

/** The rule after a change. @throws 400 by field */
export async function changedRule(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  set: ApprovalRules,
  previous: ApprovalRule,
  input: ApprovalRuleInput,
): Promise<ApprovalRule> {
  const { project } = access;
  const [users, groups, branches] = await Promise.all([
    chosenUsers(deps, project, previous, input),
    chosenGroups(deps, actor, previous, input),
    chosenBranches(deps, project, previous, input),
  ]);
  const rule: ApprovalRule = {
    ...previous,
    name: input.name?.trim() ?? previous.name,
    approvalsRequired: input.approvalsRequired ?? previous.approvalsRequired,
    userIds: users.ids,
    groupIds: groups.ids,
    protectedBranchIds: branches.ids,
    allProtectedBranches: input.allProtectedBranches ?? previous.allProtectedBranches,
    updatedAt: deps.now().toISOString(),
  };
  const others = set.rules.filter(({ id }) => id !== previous.id);
  const problems: FieldProblems = {
    name: nameProblems(rule.name, others),
    approvals_required: isCount(rule.approvalsRequired) ? [] : [`must be between 0 and ${MAX_APPROVALS}`],
    rule_type: typeProblems(rule, others),
    users: [...users.problems, ...limit(rule.userIds, MAX_USERS)],
    groups: [...groups.problems, ...limit(rule.groupIds, MAX_GROUPS)],
    protected_branches: branches.problems,
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
  return rule;
}

interface Chosen {
  readonly ids: readonly number[];
  readonly problems: readonly string[];
}

const isCount = (n: number): boolean => n >= 0 && n <= MAX_APPROVALS;

const limit = (ids: readonly number[], most: number): string[] =>
  ids.length > most ? [`is too long (maximum is ${most})`] : [];

const nameProblems = (name: string, others: readonly ApprovalRule[]): string[] => {
  if (name === '') return ["can't be blank"];
  if (name.length > MAX_NAME) return [`is too long (maximum is ${MAX_NAME} characters)`];
  return others.some((other) => other.name === name) ? ['has already been taken'] : [];
};

const typeProblems = (
  { type, userIds, groupIds }: ApprovalRule,
  others: readonly ApprovalRule[],
): string[] => {
  if (type === 'regular') return [];
  if (others.some((other) => other.type === type)) return ['any-approver has already been taken'];
  return userIds.length + groupIds.length > 0 ? ['any-approver has no users or groups'] : [];
};

/** Users who were in the rule may stay, whether or not they are members still. */
async function chosenUsers(
  deps: Deps,
  project: ProjectRecord,
  { userIds: previous }: ApprovalRule,
  { userIds, usernames }: ApprovalRuleInput,
): Promise<Chosen> {
  if (userIds === undefined && usernames === undefined) return { ids: previous, problems: [] };
  const asked = (userIds?.length ?? 0) + (usernames?.length ?? 0);
  if (asked > MAX_USERS) return { ids: [], problems: [`is too long (maximum is ${MAX_USERS})`] };
  const { users } = deps.store;
  const [byId, byName] = await Promise.all([
    users.getMany([...new Set(userIds)]),
    Promise.all([...new Set(usernames)].map((name) => users.byUsername(name))),
  ]);
  const found = [...byId, ...byName];
  const added = found.filter((user) => user !== undefined && !previous.includes(user.id));
  const accesses = await Promise.all(
    added.map((user) => user && projectAccess({ kind: 'user', user }, project, new MembershipCache(deps))),
  );
  const members = accesses.every((access) => (access?.level ?? 0) > 0);
  return {
    ids: [...new Set(found.flatMap((user) => (user === undefined ? [] : [user.id])))],
    problems: members && !found.includes(undefined) ? [] : ['must be members of the project'],
  };
}

async function chosenGroups(
  deps: Deps,
  actor: Actor,
  { groupIds: previous }: ApprovalRule,
  { groupIds, removeHiddenGroups = false }: ApprovalRuleInput,
): Promise<Chosen> {
  if (groupIds === undefined && !removeHiddenGroups) return { ids: previous, problems: [] };
  const asked = [...new Set(groupIds ?? previous)];
  if (asked.length > MAX_GROUPS) return { ids: asked, problems: [] };
  const all = [...new Set([...asked, ...previous])];
  const seen = all.length === 0 ? [] : await groupAccesses(deps, actor, all);
  const hidden = new Set(all.filter((_, i) => seen[i] === undefined));
  const kept = removeHiddenGroups ? [] : previous.filter((id) => hidden.has(id));
  const unknown = asked.some((id) => hidden.has(id) && !previous.includes(id));
  return {
    ids: [...asked.filter((id) => !hidden.has(id)), ...kept],
    problems: unknown ? ['must be groups that you can see'] : [],
  };
}

async function chosenBranches(
  deps: Deps,
  project: ProjectRecord,
  { protectedBranchIds: previous }: ApprovalRule,
  { protectedBranchIds }: ApprovalRuleInput,
): Promise<Chosen> {
  if (protectedBranchIds === undefined) return { ids: previous, problems: [] };
  const ids = [...new Set(protectedBranchIds)];
  if (ids.length === 0) return { ids, problems: [] };
  const known = new Set((await deps.store.refRules.list(project.id, 'branch')).map(({ id }) => id));
  return {
    ids,
    problems: ids.every((id) => known.has(id)) ? [] : ['must be protected branches of the project'],
  };
}
