/** Environments are stopped by the jobs that their deployments name. */

import type { EnvironmentRecord } from '../../records/environments.ts';
import { MERGE_REQUEST_STATES } from '../../records/merge-requests.ts';
import { hasEnded, type JobRecord } from '../../records/pipelines.ts';
import { environmentRefusal } from '../../store/environments/environments.ts';
import { AlreadyExists, Stale, TransactionRefused } from '../../store/errors.ts';
import { mergeRequestRanges } from '../../store/merge-requests/kind.ts';
import type { Write } from '../../store/table/write.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import * as environments from '../environments/environments.ts';
import { closedTo, requireOpen } from '../environments/protected.ts';
import { DomainError, forbidden } from '../errors.ts';
import { repeated } from '../jobs/repeat.ts';
import { scopesOf } from '../jobs/scopes.ts';
import { headRef } from '../merge-requests/versions.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { readied } from './advance-pipeline.ts';
import { mayUpdateJob } from './may-update.ts';

/**
 * Stops an environment; its stop job starts with that, if it has one. One that is stopped already stays as it is.
 * @throws `404 Not found`; 403 where the environment is protected from the actor, or they may not start the stop job; 409
 */
export async function stopEnvironment(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<EnvironmentRecord> {
  try {
    return await retryOnConflict(async () => {
      const environment = await environments.getEnvironment(deps, access, id);
      await requireOpen(deps, actor, access, environment.name);
      if (environment.state === 'stopped') return environment;
      const job = await stopJobOf(deps, environment);
      if (job === undefined) return environments.stopEnvironment(deps, access, id);
      if (!(await mayUpdateJob(deps, actor, access, job))) throw forbidden();
      return withJob(deps, actor, access, environment, job);
    }, isLost);
  } catch (error) {
    throw environments.failed(error);
  }
}

const isLost = (error: unknown): boolean => error instanceof Stale || error instanceof AlreadyExists;

/** The job that stops what an environment has now, if it can be started. */
async function stopJobOf({ store }: Deps, environment: EnvironmentRecord): Promise<JobRecord | undefined> {
  const last = await store.deployments.lastSuccess(environment.projectId, environment.id);
  const { pipelineId, onStop } = last?.job ?? {};
  if (pipelineId === undefined || onStop === undefined) return undefined;
  const jobs = await store.jobs.all(pipelineId);
  const job = jobs.find(({ name, retried }) => name === onStop && !retried);
  const waits = job?.status === 'manual' || job?.status === 'scheduled';
  const again = job !== undefined && job.when === 'manual' && hasEnded(job.status) && job.startedAt !== null;
  return job?.environment?.action === 'stop' && (waits || again) ? job : undefined;
}

async function withJob(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  environment: EnvironmentRecord,
  job: JobRecord,
): Promise<EnvironmentRecord> {
  const { store, now } = deps;
  const userId = signedIn(actor).user.id;
  const at = now().toISOString();
  const started = readied(job, scopesOf(access.project), at);
  const alongside: Write[] = [store.environments.changing(environment, environments.STOPPED, now())];
  try {
    if (hasEnded(job.status)) {
      const again = { userId, attempt: 0, advance: true, started, alongside };
      await repeated(deps, job, again, now());
    } else
      await store.jobs.change([{ job, change: { ...started, userId, scheduledAt: null } }], { alongside });
  } catch (error) {
    // Its resource group is another's at this moment, or something was changed.
    throw error instanceof TransactionRefused ? environmentRefusal(error) : error;
  }
  return { ...environment, ...environments.STOPPED };
}

/** Stops an environment whose time has come, as who deployed to it; whose job they may not start is stopped without it. */
export async function stopDue(
  deps: Deps,
  { projectId, environmentId }: { readonly projectId: number; readonly environmentId: number },
): Promise<void> {
  const { store, now } = deps;
  const environment = await store.environments.get(projectId, environmentId);
  if (environment === undefined || environment.state === 'stopped') return;
  const { autoStopAt } = environment;
  // It was deployed to again.
  if (autoStopAt == null || autoStopAt > now().toISOString()) return;
  const [last, project] = await Promise.all([
    store.deployments.lastSuccess(projectId, environmentId),
    store.projects.get(projectId),
  ]);
  if (project === undefined || project.deletedAt !== null) return;
  const user = last && (await store.users.get(last.userId));
  const actor = user && actingFor(user, deps.environment.baseUrl ?? '');
  const [access] = actor === undefined ? [] : await projectAccesses(deps, actor, [projectId]);
  const job = access && (await stopJobOf(deps, environment));
  if (actor !== undefined && access !== undefined && job !== undefined) {
    const may =
      can(actor, access, 'update_pipeline') &&
      (await mayUpdateJob(deps, actor, access, job)) &&
      (await closedTo(deps, actor, access, [environment.name])).size === 0;
    if (may) return void (await stopEnvironment(deps, actor, access, environmentId));
  }
  await environments.stopEnvironment(deps, { project, level: 0 }, environmentId);
}

/** Newest merge requests from a deleted branch that are looked at. */
const MAX_MERGE_REQUESTS = 5;
/** Newest pipelines of a branch or merge request whose jobs are looked at, and environments that they may have deployed to. */
const MAX_PIPELINES = 10;
const MAX_ENVIRONMENTS = 50;

/**
 * Stops the environments to which a branch that was deleted was deployed last, or a merge request from it in its project, as
 * who deleted it: those that have a stop job which they may start.
 */
export async function stopForBranch(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  branch: string,
): Promise<void> {
  if (!can(actor, access, 'update_pipeline')) return;
  await stopForRefs(deps, actor, access, [branch, ...(await headsFrom(deps, access.project.id, branch))]);
}

/** Stops the environments to which refs were deployed last, as {@link stopForBranch} does. */
export async function stopForRefs(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  refs: readonly string[],
): Promise<void> {
  const { store } = deps;
  const { id: projectId } = access.project;
  if (!can(actor, access, 'update_pipeline')) return;
  const names = new Set<string>();
  for (const ref of refs)
    for (const { id } of await store.pipelines.newestOfRef(projectId, ref, MAX_PIPELINES))
      for (const { environment, tag } of await store.jobs.all(id))
        if (!tag && environment?.onStop !== undefined) names.add(environment.name);
  for (const name of [...names].slice(0, MAX_ENVIRONMENTS)) {
    const environment = await store.environments.named(projectId, name);
    if (environment === undefined || environment.state === 'stopped') continue;
    const last = await store.deployments.lastSuccess(projectId, environment.id);
    if (last === undefined || !refs.includes(last.ref) || (await stopJobOf(deps, environment)) === undefined)
      continue;
    try {
      await stopEnvironment(deps, actor, access, environment.id);
    } catch (error) {
      // Not theirs to stop, or others are about to.
      if (!(error instanceof DomainError)) throw error;
    }
  }
}

/** The refs of which the pipelines of merge requests from a branch are. Those of a fork are of its branch. */
async function headsFrom({ store }: Deps, projectId: number, branch: string): Promise<string[]> {
  const { items } = await store.mergeRequestList.page({
    sources: [mergeRequestRanges.by(projectId, 'source', branch, MERGE_REQUEST_STATES)],
    matches: async (records) => records.map(({ source }) => source.projectId === projectId),
    direction: 'desc',
    page: 1,
    perPage: MAX_MERGE_REQUESTS,
  });
  return items.map(({ iid }) => headRef(iid));
}
