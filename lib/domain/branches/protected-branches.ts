import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, RuleLevel } from '../../records/refs.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { DEVELOPER, MAINTAINER } from '../access/levels.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, recordNotFound, unprocessable } from '../errors.ts';
import { newBranchRule } from '../refs/new-branch-rule.ts';
import { auditedBranchRule, auditedLevels } from '../refs/rule-audit.ts';

/** As long as a ref name can be, in bytes. */
const MAX_NAME = 1024;

/** Rules by name, those whose name has the text in it. */
export async function listProtectedBranches(
  deps: Deps,
  { project }: ProjectAccess,
  query: { search?: string | undefined; offset: number; limit: number },
): Promise<{ items: BranchRule[]; total: number }> {
  const term = query.search?.toLowerCase() ?? '';
  const rules = await deps.store.refRules.list(project.id, 'branch');
  const found = rules.filter((rule) => rule.name.toLowerCase().includes(term));
  return { items: found.slice(query.offset, query.offset + query.limit), total: found.length };
}

/** @throws 404 `404 Not found` */
export async function getProtectedBranch(
  deps: Deps,
  { project }: ProjectAccess,
  name: string,
): Promise<BranchRule> {
  const rule = await deps.store.refRules.get(project.id, 'branch', name);
  if (rule === undefined) throw recordNotFound();
  return rule;
}

export interface ProtectionInput {
  readonly name: string;
  readonly pushLevel?: RuleLevel | undefined;
  readonly mergeLevel?: RuleLevel | undefined;
  readonly allowForcePush: boolean;
}

/** @throws 409 when there is a rule of that name, 422 for a name that is none and beyond the limit of rules */
export async function protectBranch(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  input: ProtectionInput,
): Promise<BranchRule> {
  requireRuleName(input.name);
  const exists = () => conflict(`Protected branch '${input.name}' already exists`);
  // Looked at first, so that repeating a request takes no id.
  if ((await deps.store.refRules.get(project.id, 'branch', input.name)) !== undefined) throw exists();
  const { pushLevel = MAINTAINER, mergeLevel = MAINTAINER, allowForcePush, name } = input;
  const rule = await newBranchRule(deps, project.id, { name, pushLevel, mergeLevel, allowForcePush });
  try {
    await create(deps, actor, project, rule);
  } catch (error) {
    throw error instanceof AlreadyExists ? exists() : refusedRule(error);
  }
  return rule;
}

/** @param unchanged called with the time of the rule's last change; throws when that is later than allowed */
export async function unprotectBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  unchanged: (changed: string) => void,
): Promise<void> {
  const rule = await getProtectedBranch(deps, access, name);
  unchanged(rule.updatedAt);
  try {
    await remove(deps, actor, access.project, rule);
  } catch (error) {
    throw refusedRule(error);
  }
}

/**
 * The rule of exactly one branch, made or changed: what is not given stays as it is, and for a new rule is
 * Maintainers.
 */
export async function protectOneBranch(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  name: string,
  developers: { readonly push?: boolean | undefined; readonly merge?: boolean | undefined },
): Promise<void> {
  const level = (allowed: boolean | undefined): RuleLevel | undefined =>
    allowed === undefined ? undefined : allowed ? DEVELOPER : MAINTAINER;
  const change = { pushLevel: level(developers.push), mergeLevel: level(developers.merge) };
  const { refRules } = deps.store;
  // A rule that comes or goes between the look and the write is looked at again.
  for (let attempt = 0; attempt < 5; attempt++) {
    const rule = await refRules.get(project.id, 'branch', name);
    try {
      if (rule !== undefined) await changeLevels(deps, actor, project, rule, change);
      else {
        const { pushLevel = MAINTAINER, mergeLevel = MAINTAINER } = change;
        const levels = { name, pushLevel, mergeLevel, allowForcePush: false };
        await create(deps, actor, project, await newBranchRule(deps, project.id, levels));
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

/** Takes the rule of exactly one branch away, when there is one. Patterns that match it stay. */
export async function unprotectOneBranch(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  name: string,
): Promise<void> {
  const rule = await deps.store.refRules.get(project.id, 'branch', name);
  if (rule === undefined) return;
  try {
    await remove(deps, actor, project, rule);
  } catch (error) {
    if (!(error instanceof Missing)) throw refusedRule(error);
  }
}

/** @throws 422 with whole sentences, as the interface tells what is wrong with a rule */
export function requireRuleName(name: string): void {
  if (name.trim() === '') throw unprocessable(["Name can't be blank"]);
  if (Buffer.byteLength(name) > MAX_NAME)
    throw unprocessable([`Name is too long (maximum is ${MAX_NAME} characters)`]);
}

/** What the store refused, as the caller is told. */
export function refusedRule(error: unknown): unknown {
  if (error instanceof Stale) return conflict('409 Conflict: Resource lock');
  if (error instanceof LimitReached) return unprocessable([`The limit of ${error.limit} rules is reached`]);
  if (!(error instanceof Missing)) return error;
  return error.message.startsWith('project') ? notFound('Project') : recordNotFound();
}

async function create(deps: Deps, actor: Actor, project: ProjectRecord, rule: BranchRule) {
  const event = await audited(deps, actor, auditedBranchRule('add', project, rule));
  await deps.store.refRules.create(rule, [event]);
}

async function remove(deps: Deps, actor: Actor, project: ProjectRecord, rule: BranchRule) {
  const event = await audited(deps, actor, auditedBranchRule('remove', project, rule));
  await deps.store.refRules.remove(rule, [event]);
}

/** Nothing is written where the rule says so already. */
async function changeLevels(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  rule: BranchRule,
  { pushLevel = rule.pushLevel, mergeLevel = rule.mergeLevel }: Partial<Record<Level, RuleLevel | undefined>>,
): Promise<void> {
  const levels = { pushLevel, mergeLevel };
  const told = auditedLevels(project, rule, levels);
  if (told.length === 0) return;
  const events = await Promise.all(told.map((event) => audited(deps, actor, event)));
  await deps.store.refRules.change(rule, levels, deps.now(), events);
}

type Level = 'pushLevel' | 'mergeLevel';
