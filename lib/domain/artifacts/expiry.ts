/** Ends of what jobs have left. */
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Stale } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import type { JobOutcome } from '../job.ts';
import { codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { MAX_PIPELINES, withoutArtifacts } from './artifacts.ts';

const DAY_MS = 86_400_000;
const MAX_WAIT_MS = 30 * DAY_MS;

/**
 * Deletes what a job has left when its time has come. What counts as the latest of its ref is looked at again, the more seldom
 * the longer it is kept.
 */
export const expireArtifacts = (
  deps: Deps,
  { pipelineId, jobId }: { readonly pipelineId: number; readonly jobId: number },
): Promise<JobOutcome> =>
  retryOnConflict(
    async () => {
      const job = await deps.store.jobs.ofPipeline(pipelineId, jobId);
      if (job === undefined || job.artifactsExpireAt === null || job.artifacts.length === 0) return undefined;
      const late = deps.now().getTime() - Date.parse(job.artifactsExpireAt);
      if (late < 0) return { delayMs: -late };
      const project = await deps.store.projects.get(job.projectId);
      if (project === undefined || project.deletedAt !== null) return undefined;
      if (await isLatest(deps, project, job))
        return { delayMs: Math.min(MAX_WAIT_MS, Math.max(DAY_MS, late)) };
      await withoutArtifacts(deps, job);
      return undefined;
    },
    (error) => error instanceof Stale,
  );

/** Whether a job's files are kept as those of the newest pipeline of its ref that succeeded. */
async function isLatest(deps: Deps, project: ProjectRecord, job: JobRecord): Promise<boolean> {
  const { keep_latest_artifact: keeps } = await deps.settings.current();
  if (!keeps || project.settings['keep_latest_artifact'] === false) return false;
  const newest = await deps.store.pipelines.newestSuccess(project.id, job.ref, MAX_PIPELINES);
  if (newest?.id !== job.pipelineId) return false;
  return (await codeOf(deps, { project, level: 0 }).resolve(job.ref)) !== undefined;
}
