import type { TagRule } from '../../records/refs.ts';
import { AlreadyExists } from '../../store/errors.ts';
import { MAINTAINER } from '../access/levels.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { unprocessable } from '../errors.ts';
import { createRule, refusedRule, requireRuleName } from '../refs/protection-rules.ts';
import { changedGrants, type GrantInput, idsAfter } from '../refs/rule-grants.ts';

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
    await createRule(deps, actor, access, rule);
  } catch (error) {
    throw error instanceof AlreadyExists
      ? unprocessable(['Name has already been taken'])
      : refusedRule(error);
  }
  return rule;
}
