import type { BranchRule, RuleGrant, TagRule } from '../../records/refs.ts';
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
import { grantedGroups, grants, namesActor } from './rule-grants.ts';

/**
 * Permissions on the branches of a project by its protection rules. Of several matching rules, and of several grants of a
 * rule, the most permissive counts. The level `No one` applies to administrators too.
 */
export class BranchProtection {
  readonly #access: ProjectAccess;
  readonly #rules: RuleSet<BranchRule>;
  readonly #memberOf: ReadonlySet<number>;
  readonly #protectsEmpty: boolean;

  /**
   * @param memberOf the groups named by the rules that count for the actor
   * @param first the protection of the first branch of an empty repository
   */
  constructor(
    access: ProjectAccess,
    rules: readonly BranchRule[],
    memberOf: ReadonlySet<number>,
    first: DefaultBranchProtection = FULL,
  ) {
    this.#access = access;
    this.#rules = new RuleSet(rules);
    this.#memberOf = memberOf;
    this.#protectsEmpty = access.project.defaultBranch === null && protectsEmpty(first);
  }

  /** In an empty repository every branch is, if default branches are: the first branch becomes the default one. */
  isProtected(branch: string): boolean {
    return this.#protectsEmpty || this.#rules.matching(branch).length > 0;
  }

  mayPush(actor: Actor, branch: string): boolean {
    return this.#allows(actor, branch, 'push');
  }

  mayMerge(actor: Actor, branch: string): boolean {
    return this.#allows(actor, branch, 'merge');
  }

  /** Whether the actor may merge into the branch, or push to it: then they could merge by themselves. */
  mayUpdate(actor: Actor, branch: string): boolean {
    return this.mayMerge(actor, branch) || this.mayPush(actor, branch);
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

  /**
   * Whether the branch asks for code owners, whose files the actor then changes by merge requests alone. Who is named among
   * those that may push, themselves or by a group, is not bound to it.
   */
  asksOwnersOf(actor: Actor, branch: string): boolean {
    const rules = this.#rules.matching(branch);
    if (!rules.some((rule) => rule.codeOwnerApproval)) return false;
    return !rules.some(({ push }) => push.some((grant) => namesActor(grant, actor, this.#memberOf)));
  }

  developersMay(action: 'push' | 'merge', branch: string): boolean {
    return this.#rules
      .matching(branch)
      .some((rule) => rule[action].some((grant) => 'level' in grant && grant.level === DEVELOPER));
  }

  #allows(actor: Actor, branch: string, action: 'push' | 'merge'): boolean {
    if (!can(actor, this.#access, 'push_code')) {
      const shared = action === 'push' && this.#access.collaboration?.has(branch) === true;
      return shared && !this.isProtected(branch);
    }
    if (this.#protectsEmpty && maintains(actor, this.#access)) return true;
    if (!this.isProtected(branch)) return true;
    return this.#rules
      .matching(branch)
      .some((rule) => rule[action].some((grant) => grants(grant, actor, this.#access, this.#memberOf)));
  }
}

/** Permissions on the tags of a project by its protection rules. */
export class TagProtection {
  readonly #access: ProjectAccess;
  readonly #rules: RuleSet<TagRule>;
  readonly #memberOf: ReadonlySet<number>;

  constructor(access: ProjectAccess, rules: readonly TagRule[], memberOf: ReadonlySet<number>) {
    this.#access = access;
    this.#rules = new RuleSet(rules);
    this.#memberOf = memberOf;
  }

  isProtected(tag: string): boolean {
    return this.#rules.matching(tag).length > 0;
  }

  mayCreate(actor: Actor, tag: string): boolean {
    if (!can(actor, this.#access, 'push_code')) return false;
    const rules = this.#rules.matching(tag);
    return (
      rules.length === 0 ||
      rules.some((rule) => rule.create.some((grant) => grants(grant, actor, this.#access, this.#memberOf)))
    );
  }

  mayDelete(actor: Actor, tag: string): boolean {
    return this.mayCreate(actor, tag) && (!this.isProtected(tag) || maintains(actor, this.#access));
  }
}

/** @param actor whose permissions will be asked for */
export const branchProtection = async (deps: Deps, access: ProjectAccess, actor: Actor) =>
  (await protectionBy(deps, access, actor, 'branch')).branches;

export const tagProtection = async (deps: Deps, access: ProjectAccess, actor: Actor) =>
  (await protectionBy(deps, access, actor, 'tag')).tags;

/** Branch and tag protection, with one read. */
export const refProtection = (deps: Deps, access: ProjectAccess, actor: Actor) =>
  protectionBy(deps, access, actor, 'both');

async function protectionBy(
  deps: Deps,
  access: ProjectAccess,
  actor: Actor,
  kind: 'branch' | 'tag' | 'both',
): Promise<{ branches: BranchProtection; tags: TagProtection }> {
  const first = kind === 'tag' ? undefined : firstOf(deps, access);
  const { branches, tags } = await rulesOf(deps, access, kind);
  const named: RuleGrant[] = [
    ...branches.flatMap(({ push, merge }) => [...push, ...merge]),
    ...tags.flatMap(({ create }) => create),
  ];
  const memberOf = await grantedGroups(deps, access, actor, named);
  return {
    branches: new BranchProtection(access, branches, memberOf, await first),
    tags: new TagProtection(access, tags, memberOf),
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
  oidLike: 'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
  delete:
    'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
  deleteByGit: 'You can only delete protected branches using the web interface.',
} as const;

export const TAG_REFUSALS = {
  create: 'You are not allowed to create this tag as it is protected.',
  oidLike: 'You cannot create a tag with a SHA-1 or SHA-256 tag name.',
  update: 'Protected tags cannot be updated.',
  delete:
    'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.',
  deleteByGit: 'You can only delete protected tags using the web interface.',
} as const;

export const maintains = (actor: Actor, { level }: ProjectAccess): boolean =>
  isAdministrator(actor) || level >= MAINTAINER;
