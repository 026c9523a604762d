import type { BranchRule, RuleLevel } from '../../records/refs.ts';
import { MAINTAINER } from '../access/levels.ts';
import type { Deps } from '../deps.ts';

/** What a rule is made from: levels, unless the grants are given. */
export type NewBranchRule = Pick<BranchRule, 'name'> &
  Partial<Pick<BranchRule, 'push' | 'merge' | 'unprotect' | 'allowForcePush' | 'codeOwnerApproval'>> & {
    readonly pushLevel?: RuleLevel;
    readonly mergeLevel?: RuleLevel;
  };

/** Creates a rule with a new ID; it is not stored yet. */
export async function newBranchRule(
  deps: Deps,
  projectId: number,
  { pushLevel = MAINTAINER, mergeLevel = MAINTAINER, ...given }: NewBranchRule,
): Promise<BranchRule> {
  const at = deps.now().toISOString();
  const id = await deps.store.refRules.nextId();
  return {
    kind: 'branch',
    id,
    projectId,
    push: [{ id: 1, level: pushLevel }],
    merge: [{ id: 2, level: mergeLevel }],
    unprotect: [{ id: 3, level: MAINTAINER }],
    allowForcePush: false,
    codeOwnerApproval: false,
    ...given,
    createdAt: at,
    updatedAt: at,
  };
}
