import type { JobRecord } from '../../records/pipelines.ts';
import { Stale } from '../../store/errors.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { conflict, recordNotFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** @throws `404 Not found` */
export async function getJob({ store }: Deps, { project }: ProjectAccess, id: number): Promise<JobRecord> {
  const job = await store.jobs.get(id);
  if (job === undefined || job.projectId !== project.id) throw recordNotFound();
  // One of a pipeline that is being made, or deleted.
  if ((await store.pipelines.byId(project.id, job.pipelineId)) === undefined) throw recordNotFound();
  return job;
}

/** Changes a job as it is when it is changed. @throws `404 Not found`; 409 where others prevented every attempt */
export async function changeJob(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  change: (job: JobRecord) => Promise<JobRecord>,
): Promise<JobRecord> {
  try {
    return await retryOnConflict(
      async () => change(await getJob(deps, access, id)),
      (error) => error instanceof Stale,
    );
  } catch (error) {
    throw error instanceof Stale ? conflict() : error;
  }
}
