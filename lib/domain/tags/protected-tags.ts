import type { TagRule } from '../../records/refs.ts';
import { AlreadyExists } from '../../store/errors.ts';
import { MAINTAINER } from '../access/levels.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import { refusedRule, requireRuleName } from '../branches/protected-branches.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound, unprocessable } from '../errors.ts';
import { auditedTagRule } from '../refs/rule-audit.ts';
import { changedGrants, type GrantInput, idsAfter } from '../refs/rule-grants.ts';

/** Returns the rules, sorted by name. */
export async function listProtectedTags(
  deps: Deps,
  { project }: ProjectAccess,
  page: { offset: number; limit: number },
): Promise<{ items: TagRule[]; total: number }> {
  const rules = await deps.store.refRules.list(project.id, 'tag');
  return { items: rules.slice(page.offset, page.offset + page.limit), total: rules.length };
}

/** @throws 404 `404 Not found` */
export async function getProtectedTag(
  deps: Deps,
  { project }: ProjectAccess,
  name: string,
): Promise<TagRule> {
  const rule = await deps.store.refRules.get(project.id, 'tag', name);
  if (rule === undefined) throw recordNotFound();
  return rule;
}

/**
 * @param input without grants: Maintainers
 * @throws 422 for an invalid grant, an invalid name or one that has a rule, and above the limit of rules
 */
export async function protectTag(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: { readonly name: string; readonly create: readonly GrantInput[] },
): Promise<TagRule> {
  const { project } = access;
  const { name } = input;
  requireRuleName(name);
  const inputs = input.create.length === 0 ? [{ level: MAINTAINER } as const] : input.create;
  const create = await changedGrants(deps, access, 'create', [], inputs, idsAfter([]));
  const at = deps.now().toISOString();
  const rule: TagRule = {
    kind: 'tag',
    projectId: project.id,
    name,
    create,
    createdAt: at,
    updatedAt: at,
  };
  try {
    const event = await audited(deps, actor, auditedTagRule('add', project, rule));
    await deps.store.refRules.create(rule, [event]);
  } catch (error) {
    throw error instanceof AlreadyExists
      ? unprocessable(['Name has already been taken'])
      : refusedRule(error);
  }
  return rule;
}

/** @param unchanged called with the time of the rule's last change; throws if that is later than allowed */
export async function unprotectTag(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  unchanged: (changed: string) => void,
): Promise<void> {
  const rule = await getProtectedTag(deps, access, name);
  unchanged(rule.updatedAt);
  try {
    const event = await audited(deps, actor, auditedTagRule('remove', access.project, rule));
    await deps.store.refRules.remove(rule, [event]);
  } catch (error) {
    throw refusedRule(error);
  }
}
