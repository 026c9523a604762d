/** What deployments brought to environments, for lists of merge requests. */

import type { DeploymentRecord } from '../../records/environments.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { broughtBy, listDeployments, MAX_BROUGHT } from './deployments.ts';

/** Successful deployments of one project that are looked at one by one, the newest ones. */
const MAX_OF_PROJECT = 20;
/** Of all projects of one list. */
const MAX_DEPLOYMENTS = 100;
/** Projects with deployments that are looked at. */
const MAX_PROJECTS = 50;

/** The commits that deployments brought to environments, or to those of a name, in a span of time; by project. */
export class DeployedCommits {
  readonly #deps: Deps;
  readonly #actor: Actor;
  readonly #when: When;
  readonly #commits = new Map<number, ReadonlySet<string>>();
  #projects = 0;
  #deployments = 0;
  /** Whether there was more than may be looked at. */
  cut = false;

  constructor(deps: Deps, actor: Actor, when: When) {
    this.#deps = deps;
    this.#actor = actor;
    this.#when = when;
  }

  has(projectId: number, sha: string): boolean {
    return this.#commits.get(projectId)?.has(sha) ?? false;
  }

  /** Looks at projects that it has not looked at yet. */
  async look(accesses: readonly ProjectAccess[]): Promise<void> {
    const added = accesses.filter(
      (access) => !this.#commits.has(access.project.id) && can(this.#actor, access, 'read_environments'),
    );
    const ids = added.map(({ project }) => project.id);
    const { environment } = this.#when;
    const has = await (environment === undefined
      ? this.#deps.store.deployments.areIn(ids)
      : this.#deps.store.environments.areIn(ids, environment));
    for (const [i, access] of added.entries()) {
      const commits = has[i] ? await this.#commitsOf(access) : new Set<string>();
      this.#commits.set(access.project.id, commits);
    }
  }

  async #commitsOf(access: ProjectAccess): Promise<ReadonlySet<string>> {
    const commits = new Set<string>();
    const left = Math.min(MAX_OF_PROJECT, MAX_DEPLOYMENTS - this.#deployments);
    if (this.#projects === MAX_PROJECTS || left === 0) {
      this.cut = true;
      return commits;
    }
    this.#projects++;
    const { items, more, truncated } = await this.#list(access, 'desc', left);
    this.#deployments += items.length;
    const looked = items.map(({ deployment }) => deployment);
    if (more || truncated === true) {
      const before = await this.#before(access, looked.at(-1));
      if (before === undefined) this.cut = true;
      else looked.push(before);
    }
    for (const deployment of looked) {
      const brought = await broughtBy(this.#deps, access, deployment);
      if (brought.size === MAX_BROUGHT) this.cut = true;
      for (const oid of brought) commits.add(oid);
    }
    return commits;
  }

  #list(access: ProjectAccess, direction: 'asc' | 'desc', perPage: number) {
    const { environment, after: updatedAfter, before: updatedBefore } = this.#when;
    return listDeployments(this.#deps, access, {
      ...{ environment, status: 'success', updatedAfter, updatedBefore, order: 'UPDATED', direction },
      ...{ page: 1, perPage },
    });
  }

  /**
   * What all deployments before one brought together, as one: each begins with the commit that the one before left there.
   * @returns undefined where that is not known
   */
  async #before(
    access: ProjectAccess,
    last: DeploymentRecord | undefined,
  ): Promise<DeploymentRecord | undefined> {
    // Each environment has commits of its own.
    if (this.#when.environment === undefined || last?.previousSha == null) return undefined;
    const { items, truncated } = await this.#list(access, 'asc', 1);
    const [first] = items;
    if (first === undefined || truncated === true) return undefined;
    return { ...last, sha: last.previousSha, previousSha: first.deployment.previousSha };
  }
}

export interface When {
  readonly environment?: string | undefined;
  readonly after?: Date | undefined;
  readonly before?: Date | undefined;
}
