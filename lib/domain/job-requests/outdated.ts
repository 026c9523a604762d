/** Jobs that would bring something older to an environment than it has. */
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';

/**
 * Whether the last successful deployment to the environment of a job was made by a later job, in a project that minds. Jobs
 * that are repeated are new: that is how one goes back.
 */
export async function isOutdated(
  { store }: Deps,
  { id: projectId, settings }: ProjectRecord,
  { id, environment }: JobRecord,
): Promise<boolean> {
  if (environment?.action !== 'start' || settings['ci_forward_deployment_enabled'] === false) return false;
  const known = await store.environments.named(projectId, environment.name);
  const last = known && (await store.deployments.lastSuccess(projectId, known.id));
  return last?.job !== undefined && last.job.jobId > id;
}
