import type { BranchRule, RuleLevel, TagRule } from '../../records/refs.ts';
import { DEVELOPER, MAINTAINER } from '../access/levels.ts';
import { can } from '../access/permissions.ts';
import { readRules } from '../access/prefetch.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { started } from '../started.ts';
import {
  type DefaultBranchProtection,
  defaultBranchProtection,
  FULL,
  protectsEmpty,
} from './default-branch-protection.ts';
import { RuleSet } from './pattern.ts';

/**
 * Permissions on the branches of a project by its protection rules. Of several matching rules the most permissive
 * counts. The level `No one` applies to administrators too.
 */
export class BranchProtection {
  readonly #access: ProjectAccess;
  readonly #rules: RuleSet<BranchRule>;
  readonly #protectsEmpty: boolean;

  /** @param first the protection of the first branch of an empty repository */
  constructor(access: ProjectAccess, rules: readonly BranchRule[], first: DefaultBranchProtection = FULL) {
    this.#access = access;
    this.#rules = new RuleSet(rules);
    this.#protectsEmpty = access.project.defaultBranch === null && protectsEmpty(first);
  }

  /** In an empty repository every branch is, if default branches are: the first branch becomes the default one. */
  isProtected(branch: string): boolean {
    return this.#protectsEmpty || this.#rules.matching(branch).length > 0;
  }

  mayPush(actor: Actor, branch: string): boolean {
    return this.#allows(actor, branch, 'pushLevel');
  }

  mayMerge(actor: Actor, branch: string): boolean {
    return this.#allows(actor, branch, 'mergeLevel');
  }

  mayDelete(actor: Actor, branch: string): boolean {
    return (
      can(actor, this.#access, 'push_code') && (!this.isProtected(branch) || maintains(actor, this.#access))
    );
  }

  /** Whether those who may push may also force-push. */
  mayForce(branch: string): boolean {
    const rules = this.#rules.matching(branch);
    return rules.length === 0 || rules.some((rule) => rule.allowForcePush);
  }

  developersMay(action: 'push' | 'merge', branch: string): boolean {
    return this.#rules
      .matching(branch)
      .some((rule) => (action === 'push' ? rule.pushLevel : rule.mergeLevel) === DEVELOPER);
  }

  #allows(actor: Actor, branch: string, level: 'pushLevel' | 'mergeLevel'): boolean {
    if (!can(actor, this.#access, 'push_code')) return false;
    if (this.#protectsEmpty && maintains(actor, this.#access)) return true;
    if (!this.isProtected(branch)) return true;
    return this.#rules.matching(branch).some((rule) => reaches(actor, this.#access, rule[level]));
  }
}

/** Permissions on the tags of a project by its protection rules. */
export class TagProtection {
  readonly #access: ProjectAccess;
  readonly #rules: RuleSet<TagRule>;

  constructor(access: ProjectAccess, rules: readonly TagRule[]) {
    this.#access = access;
    this.#rules = new RuleSet(rules);
  }

  isProtected(tag: string): boolean {
    return this.#rules.matching(tag).length > 0;
  }

  mayCreate(actor: Actor, tag: string): boolean {
    if (!can(actor, this.#access, 'push_code')) return false;
    const rules = this.#rules.matching(tag);
    return rules.length === 0 || rules.some((rule) => reaches(actor, this.#access, rule.createLevel));
  }

  mayDelete(actor: Actor, tag: string): boolean {
    return this.mayCreate(actor, tag) && (!this.isProtected(tag) || maintains(actor, this.#access));
  }
}

export async function branchProtection(deps: Deps, access: ProjectAccess): Promise<BranchProtection> {
  const first = firstOf(deps, access);
  const { branches } = await rulesOf(deps, access, 'branch');
  return new BranchProtection(access, branches, await first);
}

export async function tagProtection(deps: Deps, access: ProjectAccess): Promise<TagProtection> {
  const { tags } = await rulesOf(deps, access, 'tag');
  return new TagProtection(access, tags);
}

/** Branch and tag protection, with one read. */
export async function refProtection(
  deps: Deps,
  access: ProjectAccess,
): Promise<{ branches: BranchProtection; tags: TagProtection }> {
  const first = firstOf(deps, access);
  const { branches, tags } = await rulesOf(deps, access, 'both');
  return {
    branches: new BranchProtection(access, branches, await first),
    tags: new TagProtection(access, tags),
  };
}

const rulesOf = (deps: Deps, { project, prefetched }: ProjectAccess, kind: 'branch' | 'tag' | 'both') =>
  prefetched?.rules(project, kind) ?? readRules(deps, project.id, kind);

/** The protection of the first branch; read in parallel with the rules, and only if the repository is empty. */
function firstOf(deps: Deps, { project }: ProjectAccess): Promise<DefaultBranchProtection> | undefined {
  return project.defaultBranch === null ? started(defaultBranchProtection(deps, project)) : undefined;
}

/** Texts of refusals in Git and in the API. */
export const BRANCH_REFUSALS = {
  push: 'You are not allowed to push code to protected branches on this project.',
  pushInto: 'You are not allowed to push into this branch',
  force: 'You are not allowed to force push code to a protected branch on this project.',
  create: 'You are not allowed to create protected branches on this project.',
  createFrom: 'You can only use an existing protected branch ref as the basis of a new protected branch.',
  createByGit: 'You can only create protected branches using the web interface and API.',
  delete:
    'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
  deleteByGit: 'You can only delete protected branches using the web interface.',
} as const;

export const TAG_REFUSALS = {
  create: 'You are not allowed to create this tag as it is protected.',
  update: 'Protected tags cannot be updated.',
  delete:
    'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.',
  deleteByGit: 'You can only delete protected tags using the web interface.',
} as const;

export const maintains = (actor: Actor, { level }: ProjectAccess): boolean =>
  isAdministrator(actor) || level >= MAINTAINER;

function reaches(actor: Actor, { level }: ProjectAccess, required: RuleLevel): boolean {
  return required !== 0 && (isAdministrator(actor) || level >= required);
}
