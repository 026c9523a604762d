import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule } from '../../records/refs.ts';
import { DEVELOPER, MAINTAINER } from '../access/levels.ts';
import type { Deps } from '../deps.ts';

/**
 * How much of the default branch is protected when it comes to be: 0 nothing, 1 against force pushes and deletion (developers
 * push), 2 also against pushes and merges of developers, 3 as 2, with developers merging.
 */
export type DefaultBranchProtection = 0 | 1 | 2 | 3;

export const FULL = 2 satisfies DefaultBranchProtection;

/**
 * As the group says that the project stands in, or else the instance; groups above say it for what is directly in them.
 */
export async function defaultBranchProtection(
  { store, settings }: Deps,
  { namespaceKind, namespaceId }: ProjectRecord,
): Promise<DefaultBranchProtection> {
  const group = namespaceKind === 'group' ? await store.groups.get(namespaceId) : undefined;
  const own = group?.settings['default_branch_protection'] as DefaultBranchProtection | undefined;
  return own ?? (await settings.current()).default_branch_protection;
}

/** Whether developers may not begin an empty repository. */
export const protectsEmpty = (protection: DefaultBranchProtection): boolean => protection >= 2;

/** Who may do what with the default branch; undefined where it is not protected. Nobody forces. */
export function levelsOf(
  protection: DefaultBranchProtection,
): Pick<BranchRule, 'pushLevel' | 'mergeLevel' | 'allowForcePush'> | undefined {
  if (protection === 0) return undefined;
  return {
    pushLevel: protection === 1 ? DEVELOPER : MAINTAINER,
    mergeLevel: protection === 3 ? DEVELOPER : MAINTAINER,
    allowForcePush: false,
  };
}
