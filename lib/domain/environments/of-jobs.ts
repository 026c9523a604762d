/** What jobs do to environments, as writes for their transactions. */

import type { DeploymentRecord, DeploymentStatus, EnvironmentRecord } from '../../records/environments.ts';
import type { JobEnvironment, JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { STOP_ENVIRONMENT_JOB } from '../../store/environments/environments.ts';
import { MAINTENANCE, messageAt, type OutboxMessage, outboxWrite } from '../../store/outbox/outbox.ts';
import { checkProjectExists } from '../../store/placement/project-item.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { type HookActor, tellHooks } from '../hook-events/tell.ts';
import { reaching, toldOfProduction } from './deployments.ts';
import { newEnvironment, STOPPED } from './environments.ts';

export interface FollowedJob {
  readonly writes: readonly Write[];
  /** To be sent after the transaction. */
  readonly messages: readonly OutboxMessage[];
  /** Null: the environment alone was touched. */
  readonly deploymentId: number | null;
}

type DeployingJob = JobRecord & { readonly environment: JobEnvironment };

const NOTHING: FollowedJob = { writes: [], messages: [], deploymentId: null };

/** What a success says of the environment. */
export interface Delivered {
  readonly externalUrl: string | undefined;
  /** When it is to be stopped. */
  readonly autoStopAt: string | undefined;
}

/**
 * Gives the deployment of a job a status; makes it, and its environment, where there is none.
 * @throws 400 for an environment that cannot be
 */
export async function deployed(
  deps: Deps,
  project: ProjectRecord,
  job: DeployingJob,
  status: DeploymentStatus,
  delivered: Delivered | undefined,
  by: HookActor,
): Promise<FollowedJob> {
  const { store, now } = deps;
  const known = job.deployment?.id == null ? undefined : await former(deps, project.id, job.deployment.id);
  // It was deleted with its environment.
  if (known === undefined && job.deployment !== undefined)
    return { ...NOTHING, deploymentId: job.deployment.id };
  const found = known?.environment ?? (await store.environments.named(project.id, job.environment.name));
  const environment = found ?? (await newlyNamed(deps, project.id, job.environment));
  const more = delivered === undefined ? {} : changeBy(job.environment, delivered);
  const id = known?.deployment.id;
  const reached = await reaching(deps, environment, status, id, more);
  const { previousSha } = reached;
  const deployment =
    known?.deployment ?? (await newDeployment(deps, job, environment.id, status, previousSha));
  const writes = [
    ...(known === undefined
      ? store.deployments.creation(deployment)
      : store.deployments.changing(deployment, { status, previousSha }, now())),
    ...(found === undefined ? store.environments.creation(reached.environment) : [reached.write]),
    checkProjectExists(project.id),
  ];
  const { autoStopAt } = reached.environment;
  const stop = { projectId: project.id, environmentId: environment.id };
  if (status === 'success' && delivered?.autoStopAt !== undefined && autoStopAt != null)
    writes.push(outboxWrite(messageAt(MAINTENANCE, STOP_ENVIRONMENT_JOB, stop, new Date(autoStopAt))));
  const event = { kind: 'deployment', deploymentId: deployment.id, status } as const;
  const told = status === 'created' ? [] : await tellHooks(deps, by, project, [event]);
  const messages = [...told, ...toldOfProduction(reached.environment, deployment.id, status)];
  return { writes, messages, deploymentId: deployment.id };
}

async function former(
  { store }: Deps,
  projectId: number,
  id: number,
): Promise<{ readonly deployment: DeploymentRecord; readonly environment: EnvironmentRecord } | undefined> {
  const deployment = await store.deployments.get(projectId, id);
  const environment = deployment && (await store.environments.get(projectId, deployment.environmentId));
  return environment && { deployment: deployment!, environment };
}

const newlyNamed = (
  deps: Deps,
  projectId: number,
  { name, tier }: JobEnvironment,
): Promise<EnvironmentRecord> => newEnvironment(deps, projectId, { name, tier });

async function newDeployment(
  { store, now }: Deps,
  { projectId, pipelineId, id: jobId, ref, tag, sha, userId, environment }: DeployingJob,
  environmentId: number,
  status: DeploymentStatus,
  previousSha: string | null,
): Promise<DeploymentRecord> {
  const at = now().toISOString();
  const { onStop } = environment;
  return {
    ...(await store.deployments.next(projectId)),
    projectId,
    environmentId,
    ref,
    tag,
    sha,
    status,
    userId,
    previousSha,
    job: { pipelineId, jobId, ...(onStop === undefined ? {} : { onStop }) },
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
}

const changeBy = (
  { tier }: JobEnvironment,
  { externalUrl, autoStopAt }: Delivered,
): Partial<EnvironmentRecord> => ({
  ...(tier === undefined ? {} : { tier }),
  ...(externalUrl === undefined ? {} : { externalUrl }),
  ...(autoStopAt === undefined ? {} : { autoStopAt }),
});

/** The environment of a job that only uses it is made where there is none. @throws 400 for one that cannot be */
export async function used(deps: Deps, projectId: number, environment: JobEnvironment): Promise<FollowedJob> {
  const { environments } = deps.store;
  if ((await environments.named(projectId, environment.name)) !== undefined) return NOTHING;
  const made = await newlyNamed(deps, projectId, environment);
  return { ...NOTHING, writes: [...environments.creation(made), checkProjectExists(projectId)] };
}

/** A job has stopped what was deployed. */
export async function stopped({ store, now }: Deps, projectId: number, name: string): Promise<FollowedJob> {
  const environment = await store.environments.named(projectId, name);
  if (environment === undefined || environment.state === 'stopped') return NOTHING;
  return { ...NOTHING, writes: [store.environments.changing(environment, STOPPED, now())] };
}
