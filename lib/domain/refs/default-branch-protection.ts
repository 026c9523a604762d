import type { ProjectRecord } from '../../records/projects.ts';
import type { RuleLevel } from '../../records/refs.ts';
import { DEVELOPER, MAINTAINER } from '../access/levels.ts';
import type { Deps } from '../deps.ts';

/**
 * Protection of a new default branch: 0 none; 1 no force pushes and no deletion (developers may push); 2 also no pushes
 * and merges by developers; 3 like 2, but developers may merge.
 */
export type DefaultBranchProtection = 0 | 1 | 2 | 3;

export const FULL = 2 satisfies DefaultBranchProtection;

/**
 * The setting of the project's parent group, else of the instance. Other ancestors do not count.
 */
export async function defaultBranchProtection(
  { store, settings }: Deps,
  { namespaceKind, namespaceId }: ProjectRecord,
): Promise<DefaultBranchProtection> {
  const group = namespaceKind === 'group' ? await store.groups.get(namespaceId) : undefined;
  const ofGroup = group?.settings['default_branch_protection'] as DefaultBranchProtection | undefined;
  return ofGroup ?? (await settings.current()).default_branch_protection;
}

/** Whether developers may not push the first commit. */
export const protectsEmpty = (protection: DefaultBranchProtection): boolean => protection >= 2;

/** The levels of the default branch's protection rule; undefined if it is not protected. */
export function levelsOf(
  protection: DefaultBranchProtection,
): { readonly pushLevel: RuleLevel; readonly mergeLevel: RuleLevel } | undefined {
  if (protection === 0) return undefined;
  return {
    pushLevel: protection === 1 ? DEVELOPER : MAINTAINER,
    mergeLevel: protection === 3 ? DEVELOPER : MAINTAINER,
  };
}
