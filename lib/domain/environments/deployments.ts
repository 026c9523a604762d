/** Deployments: that a commit was, is or will be brought to an environment. */

import type { Oid } from '../../git/oid.ts';
import { branchRef, isOidLike, tagRef } from '../../git/refname.ts';
import { byId } from '../../records/by-id.ts';
import type { DeploymentRecord, DeploymentStatus, EnvironmentRecord } from '../../records/environments.ts';
import { AlreadyExists, Stale } from '../../store/errors.ts';
import { TELL_DEPLOYED_JOB } from '../../store/merge-requests/merge-requests.ts';
import { MAINTENANCE, message, type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import type { DeploymentOrder } from '../../store/row-keys/environments.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Write } from '../../store/table/write.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { pinCommit } from '../commits/pin.ts';
import type { Deps } from '../deps.ts';
import { forbidden, invalid, recordNotFound } from '../errors.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { failed, newEnvironment } from './environments.ts';
import { requireOpen } from './protected.ts';

/** Commits of a deployment in which its merge requests are looked for. */
export const MAX_BROUGHT = 5_000;

export interface FoundDeployment {
  readonly deployment: DeploymentRecord;
  readonly environment: EnvironmentRecord;
}

export interface DeploymentQuery extends PageRequest {
  readonly order: DeploymentOrder;
  readonly direction: 'asc' | 'desc';
  /** Name of an environment. */
  readonly environment?: string | undefined;
  readonly status?: DeploymentStatus | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
}

export async function listDeployments(
  { store }: Deps,
  { project }: ProjectAccess,
  query: DeploymentQuery,
): Promise<Page<FoundDeployment>> {
  const { environment, status, updatedAfter, updatedBefore, order, direction, ...request } = query;
  const named =
    environment === undefined ? undefined : await store.environments.named(project.id, environment);
  if (environment !== undefined && named === undefined) return { items: [], total: 0, more: false };
  const [from, to] = [updatedAfter?.toISOString(), updatedBefore?.toISOString()];
  const filtered = status !== undefined || from !== undefined || to !== undefined;
  const page = await store.deployments.page(
    project.id,
    {
      environmentId: named?.id,
      order,
      direction,
      where: filtered
        ? (each) =>
            (status === undefined || each.status === status) &&
            (from === undefined || each.updatedAt >= from) &&
            (to === undefined || each.updatedAt <= to)
        : undefined,
    },
    request,
  );
  return { ...page, items: await withEnvironments(store, project.id, page.items) };
}

/** Deployments of environments that are being deleted are left out. */
async function withEnvironments(
  store: Deps['store'],
  projectId: number,
  deployments: readonly DeploymentRecord[],
): Promise<FoundDeployment[]> {
  const ids = [...new Set(deployments.map(({ environmentId }) => environmentId))];
  if (ids.length === 0) return [];
  const found = await store.environments.getMany(projectId, ids);
  const environments = byId(found);
  return deployments.flatMap((deployment) => {
    const environment = environments.get(deployment.environmentId);
    return environment === undefined ? [] : [{ deployment, environment }];
  });
}

/** @throws `404 Not found` */
export async function getDeployment(
  { store }: Deps,
  { project }: ProjectAccess,
  id: number,
): Promise<FoundDeployment> {
  const deployment = await store.deployments.get(project.id, id);
  const [found] = deployment === undefined ? [] : await withEnvironments(store, project.id, [deployment]);
  if (found === undefined) throw recordNotFound();
  return found;
}

export interface DeploymentInput {
  /** Name of the environment, which is created if there is none. */
  readonly environment: string;
  readonly sha: string;
  readonly ref: string;
  readonly tag: boolean;
  readonly status: DeploymentStatus;
}

/** @throws 403 for a protected environment; 400 by field, for an unknown commit or ref too; 409 where other requests prevented every attempt */
export async function createDeployment(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: DeploymentInput,
): Promise<FoundDeployment> {
  const { project } = access;
  const { environments, deployments } = deps.store;
  await requireOpen(deps, actor, access, input.environment);
  const git = codeOf(deps, access);
  const names = [branchRef(input.ref), tagRef(input.ref)].filter((name) => name !== undefined);
  const [commit, refs] = await Promise.all([
    isOidLike(input.sha) ? git.resolve(input.sha) : undefined,
    git.refs(names),
  ]);
  const problems = {
    ...(commit === undefined ? { sha: ['The commit does not exist'] } : {}),
    ...(refs.length === 0 ? { ref: ['The branch or tag does not exist'] } : {}),
  };
  if (commit === undefined || refs.length === 0) throw invalid(problems);
  const numbers = await deployments.next(project.id);
  const at = deps.now();
  const attempt = async (): Promise<FoundDeployment> => {
    const known = await environments.named(project.id, input.environment);
    const environment = known ?? (await newEnvironment(deps, project.id, { name: input.environment }));
    const reached = await reaching(deps, environment, input.status, undefined);
    const deployment: DeploymentRecord = {
      ...numbers,
      projectId: project.id,
      environmentId: environment.id,
      ref: input.ref,
      tag: input.tag,
      sha: commit.commit,
      status: input.status,
      userId: signedIn(actor).user.id,
      previousSha: reached.previousSha,
      createdAt: at.toISOString(),
      updatedAt: at.toISOString(),
      version: 1,
    };
    // The environment is checked by its version: of its deletion and this, one loses.
    const writes = known === undefined ? environments.creation(environment) : [reached.write];
    const event = { kind: 'deployment', deploymentId: deployment.id, status: input.status } as const;
    const told = [
      ...(await tellHooks(deps, actor, project, [event])),
      ...toldOfProduction(reached.environment, deployment.id, input.status),
    ];
    await pinCommit(deps, project, commit.commit, (pins) =>
      deployments.create(deployment, [...writes, ...pins, ...outboxWrites(told)]),
    );
    await deps.store.outbox.deliver(told);
    return { deployment, environment: known === undefined ? environment : reached.environment };
  };
  try {
    // A first deployment may create the environment that another one creates.
    return await retryOnConflict(
      attempt,
      (error) => error instanceof Stale || error instanceof AlreadyExists,
    );
  } catch (error) {
    throw failed(error);
  }
}

/**
 * Any status may follow any other; the same one again changes nothing.
 * @throws `404 Not found`; 403 for one that a job makes, and in a protected environment; 409 where other requests prevented every attempt
 */
export async function changeDeployment(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  status: DeploymentStatus,
): Promise<FoundDeployment> {
  const attempt = async (): Promise<FoundDeployment> => {
    const found = await getDeployment(deps, access, id);
    const { deployment, environment } = found;
    await requireOpen(deps, actor, access, environment.name);
    if (deployment.job !== undefined)
      throw forbidden('Deployments created using GitLab CI can not be updated using the API');
    if (deployment.status === status) return found;
    const reached = await reaching(deps, environment, status, id);
    const event = { kind: 'deployment', deploymentId: id, status } as const;
    const told = [
      ...(await tellHooks(deps, actor, access.project, [event])),
      ...toldOfProduction(environment, id, status),
    ];
    const changed = await deps.store.deployments.change(
      deployment,
      { status, previousSha: reached.previousSha },
      deps.now(),
      [reached.write, ...outboxWrites(told)],
    );
    await deps.store.outbox.deliver(told);
    return { deployment: changed, environment: reached.environment };
  };
  try {
    return await retryOnConflict(attempt, (error) => error instanceof Stale);
  } catch (error) {
    throw failed(error);
  }
}

/**
 * What a status does to the environment: success makes it available, and replaces what it had.
 * @param more what a success changes beside that
 */
export async function reaching(
  { store, now }: Deps,
  environment: EnvironmentRecord,
  status: DeploymentStatus,
  deploymentId: number | undefined,
  more: Partial<EnvironmentRecord> = {},
): Promise<{
  readonly write: Write;
  readonly environment: EnvironmentRecord;
  readonly previousSha: string | null;
}> {
  const change = status === 'success' ? ({ state: 'available', deletedOn: null, ...more } as const) : {};
  const write = store.environments.changing(environment, change, now());
  const before =
    status === 'success'
      ? await store.deployments.lastSuccess(environment.projectId, environment.id, deploymentId)
      : undefined;
  return { write, environment: { ...environment, ...change }, previousSha: before?.sha ?? null };
}

/** A worker tells the merge requests that a deployment brought to production. */
export const toldOfProduction = (
  { projectId, tier }: EnvironmentRecord,
  deploymentId: number,
  status: DeploymentStatus,
): OutboxMessage[] =>
  tier === 'production' && status === 'success'
    ? [message(MAINTENANCE, TELL_DEPLOYED_JOB, { projectId, deploymentId })]
    : [];

/** The commits that a successful deployment brought to its environment, 5,000 at most; none for others. */
export async function broughtBy(
  deps: Deps,
  access: ProjectAccess,
  { status, sha, previousSha }: DeploymentRecord,
): Promise<ReadonlySet<string>> {
  if (status !== 'success') return new Set();
  const commits = await bounded(() =>
    codeOf(deps, access).log({
      tips: [sha as Oid],
      ...(previousSha === null ? {} : { exclude: [previousSha as Oid] }),
      firstParent: false,
      order: 'date',
      skip: 0,
      limit: MAX_BROUGHT,
    }),
  );
  return new Set(commits.map(({ oid }) => oid));
}
