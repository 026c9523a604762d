/** What the protection rules of branches, tags and environments have in common. */

import type { RefRule } from '../../records/refs.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, recordNotFound, unprocessable } from '../errors.ts';
import { auditedRule } from './rule-audit.ts';

type RuleKind = RefRule['kind'];
type RuleOf<K extends RuleKind> = Extract<RefRule, { readonly kind: K }>;

/** Maximum length of a ref name, in bytes. */
const MAX_NAME = 1024;

/** Returns the rules of one kind whose name contains the search text, sorted by name. */
export async function listRules<K extends RuleKind>(
  deps: Deps,
  { project }: ProjectAccess,
  kind: K,
  query: { search?: string | undefined; offset: number; limit: number },
): Promise<{ items: RuleOf<K>[]; total: number }> {
  const term = query.search?.toLowerCase() ?? '';
  const rules = await deps.store.refRules.list(project.id, kind);
  const found = rules.filter((rule) => rule.name.toLowerCase().includes(term));
  return { items: found.slice(query.offset, query.offset + query.limit), total: found.length };
}

/** @throws 404 `404 Not found` */
export async function getRule<K extends RuleKind>(
  deps: Deps,
  { project }: ProjectAccess,
  kind: K,
  name: string,
): Promise<RuleOf<K>> {
  const rule = await deps.store.refRules.get(project.id, kind, name);
  if (rule === undefined) throw recordNotFound();
  return rule;
}

/** @throws the store's errors: see {@link refusedRule} */
export async function createRule(
  deps: Deps,
  actor: Actor,
  { project }: Pick<ProjectAccess, 'project'>,
  rule: RefRule,
): Promise<void> {
  const event = await audited(deps, actor, auditedRule('add', project, rule));
  await deps.store.refRules.create(rule, [event]);
}

/** @throws the store's errors: see {@link refusedRule} */
export async function removeRule(
  deps: Deps,
  actor: Actor,
  { project }: Pick<ProjectAccess, 'project'>,
  rule: RefRule,
): Promise<void> {
  const event = await audited(deps, actor, auditedRule('remove', project, rule));
  await deps.store.refRules.remove(rule, [event]);
}

/**
 * Deletes the rule of a tag or an environment, which everybody may who may create one.
 * @param unchanged called with the time of the rule's last change; throws if that is later than allowed
 * @throws 404 `404 Not found`; 409 for a rule that changed meanwhile
 */
export async function removeProtection(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  kind: 'tag' | 'environment',
  name: string,
  unchanged: (changed: string) => void,
): Promise<void> {
  const rule = await getRule(deps, access, kind, name);
  unchanged(rule.updatedAt);
  try {
    await removeRule(deps, actor, access, rule);
  } catch (error) {
    throw refusedRule(error);
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
