/** Protected environments: only those whom its rule names deploy to one. */

import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { EnvironmentRule } from '../../records/refs.ts';
import { AlreadyExists } from '../../store/errors.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, unprocessable } from '../errors.ts';
import { createRule, refusedRule, requireRuleName } from '../refs/protection-rules.ts';
import { changedGrants, type GrantInput, grantedGroups, grants, idsAfter } from '../refs/rule-grants.ts';

/** @throws 409 if it is protected; 422 for an invalid name or grant, for none, and above the limit of rules */
export async function protectEnvironment(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { name, deploy: inputs }: { readonly name: string; readonly deploy: readonly GrantInput[] },
): Promise<EnvironmentRule> {
  const { project } = access;
  requireRuleName(name);
  const exists = () => conflict(`Protected environment '${name}' already exists`);
  if ((await deps.store.refRules.get(project.id, 'environment', name)) !== undefined) throw exists();
  if (inputs.length === 0) throw unprocessable(["Deploy access levels can't be blank"]);
  const deploy = await changedGrants(deps, access, 'deploy', [], inputs, idsAfter([]));
  const at = deps.now().toISOString();
  const times = { createdAt: at, updatedAt: at };
  const rule: EnvironmentRule = { kind: 'environment', projectId: project.id, name, deploy, ...times };
  try {
    await createRule(deps, actor, access, rule);
  } catch (error) {
    throw error instanceof AlreadyExists ? exists() : refusedRule(error);
  }
  return rule;
}

/** Those of these environments that an actor may not deploy to. Reads the rules alone where none is protected. */
export async function closedTo(
  deps: Deps,
  actor: Actor,
  access: Pick<ProjectAccess, 'project' | 'level'>,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rules = await deps.store.refRules.ofEnvironments(access.project.id, [...new Set(names)]);
  return closedBy(deps, actor, access, rules);
}

async function closedBy(
  deps: Deps,
  actor: Actor,
  access: Pick<ProjectAccess, 'project' | 'level'>,
  rules: ReadonlyMap<string, EnvironmentRule>,
): Promise<ReadonlySet<string>> {
  const all = [...rules.values()];
  const memberOf = await grantedGroups(
    deps,
    access,
    actor,
    all.flatMap(({ deploy }) => deploy),
  );
  const closed = all.filter(({ deploy }) => !deploy.some((grant) => grants(grant, actor, access, memberOf)));
  return new Set(closed.map(({ name }) => name));
}

/** Whether an environment is protected, and its rule names the actor. */
export async function isOpenedTo(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
): Promise<boolean> {
  const rules = await deps.store.refRules.ofEnvironments(access.project.id, [name]);
  return rules.size > 0 && (await closedBy(deps, actor, access, rules)).size === 0;
}

/** @throws 403 where one of these environments is protected from the actor */
export async function requireOpen(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  ...names: readonly string[]
): Promise<void> {
  if ((await closedTo(deps, actor, access, names)).size > 0) throw forbidden();
}

/** The ids of those of these jobs whose users may not deploy to their environments, whatever the jobs do there. */
export async function closedJobs(
  deps: Deps,
  project: ProjectRecord,
  jobs: readonly JobRecord[],
): Promise<ReadonlySet<number>> {
  const named = jobs.flatMap(({ environment }) => environment?.name ?? []);
  if (named.length === 0) return new Set();
  const rules = await deps.store.refRules.ofEnvironments(project.id, [...new Set(named)]);
  const held = jobs.filter(({ environment }) => environment !== undefined && rules.has(environment.name));
  const closed = new Set<number>();
  for (const [userId, theirs] of Map.groupBy(held, (job) => job.userId)) {
    const user = await deps.store.users.get(userId);
    const actor: Actor = user?.state === 'active' ? actingFor(user, '') : { kind: 'anonymous' };
    const [access = { project, level: 0 }] = await projectAccesses(deps, actor, [project.id]);
    const names = await closedBy(deps, actor, access, rules);
    for (const { id, environment } of theirs) if (names.has(environment!.name)) closed.add(id);
  }
  return closed;
}
