import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, RuleGrant, RuleLevel } from '../../records/refs.ts';
import { AlreadyExists, Missing, Stale } from '../../store/errors.ts';
import type { BranchRuleChange } from '../../store/refs/protection-rules.ts';
import { DEVELOPER, MAINTAINER } from '../access/levels.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden } from '../errors.ts';
import { newBranchRule } from '../refs/new-branch-rule.ts';
import { createRule, getRule, refusedRule, removeRule, requireRuleName } from '../refs/protection-rules.ts';
import { auditedChanges } from '../refs/rule-audit.ts';
import { changedGrants, type GrantInput, grantedGroups, grants, idsAfter } from '../refs/rule-grants.ts';

export interface RuleInput {
  readonly push?: readonly GrantInput[] | undefined;
  readonly merge?: readonly GrantInput[] | undefined;
  readonly unprotect?: readonly GrantInput[] | undefined;
  readonly allowForcePush?: boolean | undefined;
  readonly codeOwnerApproval?: boolean | undefined;
}

const ACTIONS = ['push', 'merge', 'unprotect'] as const;

/**
 * @param input grants of an action that is absent or has none: Maintainers
 * @throws 409 if a rule of that name exists; 422 for an invalid name or grant, and above the limit of rules
 */
export async function protectBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { name, ...input }: RuleInput & { readonly name: string },
): Promise<BranchRule> {
  const { project } = access;
  requireRuleName(name);
  const exists = () => conflict(`Protected branch '${name}' already exists`);
  // Checked first, so that a repeated request consumes no ID.
  if ((await deps.store.refRules.get(project.id, 'branch', name)) !== undefined) throw exists();
  const given: RuleInput = { ...input };
  const filled = Object.fromEntries(
    ACTIONS.map((action) => [
      action,
      given[action]?.length ? given[action] : [{ level: MAINTAINER } as const],
    ]),
  );
  const empty = { push: [], merge: [], unprotect: [], allowForcePush: false, codeOwnerApproval: false };
  const change = await changeOf(deps, access, empty, { ...given, ...filled });
  const rule = await newBranchRule(deps, project.id, { name, ...change });
  try {
    await createRule(deps, actor, access, rule);
  } catch (error) {
    throw error instanceof AlreadyExists ? exists() : refusedRule(error);
  }
  return rule;
}

/**
 * Adds, changes and removes grants of a rule, and its other properties; what is not given is kept.
 * @throws 403 for callers who may not change this rule; 404 for an absent rule or grant; 409 for a rule that changed
 *   meanwhile; 422 for an invalid grant
 */
export async function updateProtectedBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  input: RuleInput,
): Promise<BranchRule> {
  const rule = await getRule(deps, access, 'branch', name);
  await requireUnprotect(deps, actor, access, rule);
  try {
    return await change(deps, actor, access.project, rule, await changeOf(deps, access, rule, input));
  } catch (error) {
    throw refusedRule(error);
  }
}

async function changeOf(
  deps: Deps,
  access: ProjectAccess,
  rule: Required<BranchRuleChange>,
  { allowForcePush, codeOwnerApproval, ...input }: RuleInput,
): Promise<BranchRuleChange> {
  const nextId = idsAfter(ACTIONS.flatMap((action) => rule[action]));
  const changed: {
    push?: readonly RuleGrant[];
    merge?: readonly RuleGrant[];
    unprotect?: readonly RuleGrant[];
  } = {};
  for (const action of ACTIONS) {
    const inputs = input[action];
    if (inputs === undefined || inputs.length === 0) continue;
    changed[action] = await changedGrants(deps, access, action, rule[action], inputs, nextId);
  }
  return {
    ...changed,
    ...(allowForcePush === undefined ? {} : { allowForcePush }),
    ...(codeOwnerApproval === undefined ? {} : { codeOwnerApproval }),
  };
}

/** A user who may change the project's rules may change this one only if it allows them. A rule without grants lets all. */
async function requireUnprotect(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { unprotect }: BranchRule,
): Promise<void> {
  if (unprotect.length === 0) return;
  const memberOf = await grantedGroups(deps, access, actor, unprotect);
  if (!unprotect.some((grant) => grants(grant, actor, access, memberOf))) throw forbidden();
}

/** @param unchanged called with the time of the rule's last change; throws if that is later than allowed */
export async function unprotectBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  unchanged: (changed: string) => void,
): Promise<void> {
  const rule = await getRule(deps, access, 'branch', name);
  await requireUnprotect(deps, actor, access, rule);
  unchanged(rule.updatedAt);
  try {
    await removeRule(deps, actor, access, rule);
  } catch (error) {
    throw refusedRule(error);
  }
}

/**
 * Creates or changes the rule of exactly one branch. Levels that are not given are kept, as are users and groups; in a new
 * rule they are Maintainers.
 * @throws 403 for callers who may not change this rule
 */
export async function protectOneBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  developers: { readonly push?: boolean | undefined; readonly merge?: boolean | undefined },
): Promise<void> {
  const { project } = access;
  const level = (allowed: boolean): RuleLevel => (allowed ? DEVELOPER : MAINTAINER);
  const { refRules } = deps.store;
  // Retried if the rule is created, changed or deleted between read and write.
  for (let attempt = 0; attempt < 5; attempt++) {
    const rule = await refRules.get(project.id, 'branch', name);
    try {
      if (rule !== undefined) {
        const changed: BranchRuleChange = {
          ...(developers.push === undefined ? {} : { push: withLevel(rule, 'push', level(developers.push)) }),
          ...(developers.merge === undefined
            ? {}
            : { merge: withLevel(rule, 'merge', level(developers.merge)) }),
        };
        if (auditedChanges(project, rule, changed).length === 0) return;
        await requireUnprotect(deps, actor, access, rule);
        await change(deps, actor, project, rule, changed);
      } else {
        const levels = {
          name,
          pushLevel: level(developers.push === true),
          mergeLevel: level(developers.merge === true),
        };
        await createRule(deps, actor, access, await newBranchRule(deps, project.id, levels));
      }
      return;
    } catch (error) {
      const raced =
        error instanceof AlreadyExists ||
        (rule !== undefined && (error instanceof Missing || error instanceof Stale));
      if (!raced) throw refusedRule(error);
    }
  }
  throw conflict('409 Conflict: Resource lock');
}

/** The grants of an action with one level instead of its levels. */
function withLevel(rule: BranchRule, action: 'push' | 'merge', level: RuleLevel): readonly RuleGrant[] {
  const [first] = rule[action].filter((grant) => 'level' in grant);
  const id = first?.id ?? idsAfter(ACTIONS.flatMap((each) => rule[each]))();
  return [{ id, level }, ...rule[action].filter((grant) => !('level' in grant))];
}

/** Deletes the rule of exactly one branch, if there is one. Patterns that match it are kept. */
export async function unprotectOneBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
): Promise<void> {
  const { project } = access;
  const rule = await deps.store.refRules.get(project.id, 'branch', name);
  if (rule === undefined) return;
  await requireUnprotect(deps, actor, access, rule);
  try {
    await removeRule(deps, actor, access, rule);
  } catch (error) {
    if (!(error instanceof Missing)) throw refusedRule(error);
  }
}

/** Writes nothing if nothing changes. */
async function change(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  rule: BranchRule,
  changed: BranchRuleChange,
): Promise<BranchRule> {
  const changes = auditedChanges(project, rule, changed);
  if (changes.length === 0) return rule;
  const events = await Promise.all(changes.map((event) => audited(deps, actor, event)));
  return deps.store.refRules.change(rule, changed, deps.now(), events);
}
