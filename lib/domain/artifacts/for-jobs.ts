import { archiveOf, type JobArtifact } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound } from '../errors.ts';
import { mayFetchOf } from './cross-needs.ts';

/**
 * Returns the archive of a job, for a running job that depends on it: both are of one project, or the other one says that it
 * needs it.
 * @throws 403, 404
 */
export async function archiveForJob(deps: Deps, asking: JobRecord, id: number): Promise<JobArtifact> {
  const job = asking.id === id ? asking : await deps.store.jobs.get(id);
  if (job === undefined) throw notFound();
  if (job.projectId !== asking.projectId && !(await mayFetchOf(deps, asking, job))) throw forbidden();
  const archive = archiveOf(job);
  if (archive === undefined) throw notFound();
  return archive;
}
