import type { BranchRule } from '../../records/refs.ts';
import type { Deps } from '../deps.ts';

/** Creates a rule with a new ID; it is not stored yet. */
export async function newBranchRule(
  deps: Deps,
  projectId: number,
  levels: Pick<BranchRule, 'name' | 'pushLevel' | 'mergeLevel' | 'allowForcePush'>,
): Promise<BranchRule> {
  const at = deps.now().toISOString();
  const id = await deps.store.refRules.nextId();
  return { kind: 'branch', id, projectId, ...levels, createdAt: at, updatedAt: at };
}
