/** Environments and deployments follow the jobs that deploy. */

import { parseDuration } from '../../ci/duration.ts';
import { expand } from '../../ci/variables.ts';
import type { DeploymentStatus } from '../../records/environments.ts';
import {
  type CiStatus,
  hasEnded,
  type JobEnvironment,
  type JobRecord,
  type PipelineRecord,
} from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { environmentRefusal } from '../../store/environments/environments.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { textsOf } from '../ci-variables/job-variables.ts';
import type { Deps } from '../deps.ts';
import { addressProblems } from '../environments/environments.ts';
import { type Delivered, deployed, type FollowedJob, stopped, used } from '../environments/of-jobs.ts';
import { DomainError } from '../errors.ts';
import { variablesOfJob } from './job-variables.ts';

/** What the status of a job makes of its deployment. What waits for other jobs has none. */
const STATUSES: Partial<Record<CiStatus, DeploymentStatus>> = {
  waiting_for_resource: 'created',
  preparing: 'created',
  pending: 'created',
  manual: 'created',
  scheduled: 'created',
  running: 'running',
  success: 'success',
  failed: 'failed',
  canceled: 'canceled',
};

type DeployingJob = JobRecord & { readonly environment: JobEnvironment };

/** The status that the deployment of a job is to be given; undefined: it has it, or none is due. */
function deploymentDue(job: JobRecord): DeploymentStatus | undefined {
  const { environment, deployment, kind, status, startedAt } = job;
  if (environment === undefined || kind === 'bridge') return undefined;
  const wanted = STATUSES[status];
  if (wanted === undefined || wanted === deployment?.status) return undefined;
  if (environment.action === 'stop')
    return wanted === 'success' && deployment === undefined ? wanted : undefined;
  if (environment.action !== 'start') return deployment === undefined ? 'created' : undefined;
  if (deployment === undefined) return hasEnded(status) && startedAt === null ? undefined : wanted;
  return wanted === 'created' ? undefined : wanted;
}

/** Gives deployments the statuses of their jobs. @throws Stale */
export async function withDeployments(
  deps: Deps,
  place: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  jobs: readonly JobRecord[],
): Promise<readonly JobRecord[]> {
  if (jobs.every((job) => deploymentDue(job) === undefined)) return jobs;
  const all: JobRecord[] = [];
  for (const job of jobs) {
    const status = deploymentDue(job);
    all.push(status === undefined ? job : await followed(deps, place, job as DeployingJob, status));
  }
  return all;
}

async function followed(
  deps: Deps,
  place: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  job: DeployingJob,
  status: DeploymentStatus,
): Promise<JobRecord> {
  try {
    const { writes, messages, deploymentId: id } = await following(deps, place, job, status);
    const [changed] = await deps.store.jobs.change([{ job, change: { deployment: { id, status } } }], {
      advance: false,
      alongside: writes,
      messages,
    });
    return changed!;
  } catch (error) {
    const why = refusalOf(error);
    if (why instanceof Missing) return job;
    // Another one made the environment.
    if (why instanceof AlreadyExists) throw new Stale('environment');
    if (why instanceof LimitReached || why instanceof DomainError)
      return withoutEnvironment(deps, job, status);
    throw why;
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof TransactionRefused && error.has('deployment')) return new Stale('deployment');
  return environmentRefusal(error);
}

async function following(
  deps: Deps,
  { project, pipeline }: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  job: DeployingJob,
  status: DeploymentStatus,
): Promise<FollowedJob> {
  const { environment } = job;
  if (environment.action === 'stop') return stopped(deps, project.id, environment.name);
  if (environment.action !== 'start') return used(deps, project.id, environment);
  const baseUrl = pipeline.baseUrl ?? deps.environment.baseUrl ?? '';
  const delivered =
    status === 'success' ? await deliveredBy(deps, { project, pipeline, job, baseUrl }) : undefined;
  return deployed(deps, project, job, status, delivered, { actorId: job.userId, baseUrl });
}

async function deliveredBy(
  deps: Deps,
  place: {
    readonly project: ProjectRecord;
    readonly pipeline: PipelineRecord;
    readonly job: DeployingJob;
    readonly baseUrl: string;
  },
): Promise<Delivered> {
  const { job } = place;
  const { url, autoStopIn } = job.environment;
  const seconds = autoStopIn === undefined ? undefined : parseDuration(autoStopIn);
  const until = seconds === undefined ? undefined : deps.now().getTime() + seconds * 1000;
  return {
    externalUrl: url === undefined ? undefined : await addressOf(deps, place, url),
    autoStopAt: until === undefined ? undefined : new Date(until).toISOString(),
  };
}

/** The address that a job gives its environment, with its variables; undefined where that is none. */
async function addressOf(
  deps: Deps,
  place: {
    readonly project: ProjectRecord;
    readonly pipeline: PipelineRecord;
    readonly job: JobRecord;
    readonly baseUrl: string;
  },
  url: string,
): Promise<string | undefined> {
  const spec = await deps.store.jobs.spec(place.job);
  if (spec === undefined) return undefined;
  const variables = textsOf(await variablesOfJob(deps, { ...place, spec }));
  // A variable may name others.
  const address = expand(expand(url, variables), variables);
  return addressProblems(address).length > 0 ? undefined : address;
}

/** A job whose environment cannot be made fails. */
async function withoutEnvironment(deps: Deps, job: JobRecord, status: DeploymentStatus): Promise<JobRecord> {
  const at = deps.now().toISOString();
  const failure = {
    status: 'failed',
    failureReason: 'environment_creation_failure',
    finishedAt: at,
    updatedAt: at,
    deployment: { id: null, status: 'failed' },
  } as const;
  const change = hasEnded(job.status) ? { deployment: { id: null, status } } : failure;
  const [changed] = await deps.store.jobs.change([{ job, change }]);
  return changed!;
}
