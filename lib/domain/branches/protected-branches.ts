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

/** Maximum length of a ref name, in bytes. */
const MAX_NAME = 1024;

/** Returns the rules whose name contains the search text, sorted by name. */
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

/** @throws 409 if a rule of that name exists, 422 for an invalid name and above the limit of rules */
export async function protectBranch(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  input: ProtectionInput,
): Promise<BranchRule> {
  requireRuleName(input.name);
  const exists = () => conflict(`Protected branch '${input.name}' already exists`);
  // Checked first, so that a repeated request consumes no ID.
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

/** @param unchanged called with the time of the rule's last change; throws if that is later than allowed */
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
 * Creates or changes the rule of exactly one branch. Levels that are not given are kept; in a new rule they are
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
  // Retried if the rule is created or deleted between read and write.
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

/** Deletes the rule of exactly one branch, if there is one. Patterns that match it are kept. */
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

/** @throws 422 with full sentences, the API's format for invalid rules */
export function requireRuleName(name: string): void {
  if (name.trim() === '') throw unprocessable(["Name can't be blank"]);
  if (Buffer.byteLength(name) > MAX_NAME)
    throw unprocessable([`Name is too long (maximum is ${MAX_NAME} characters)`]);
}

/** Translates store errors of a rule change into domain errors. */
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

/** Writes nothing if the levels are unchanged. */
async function changeLevels(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  rule: BranchRule,
  { pushLevel = rule.pushLevel, mergeLevel = rule.mergeLevel }: Partial<Record<Level, RuleLevel | undefined>>,
): Promise<void> {
  const levels = { pushLevel, mergeLevel };
  const changes = auditedLevels(project, rule, levels);
  if (changes.length === 0) return;
  const events = await Promise.all(changes.map((event) => audited(deps, actor, event)));
  await deps.store.refRules.change(rule, levels, deps.now(), events);
}

type Level = 'pushLevel' | 'mergeLevel';
