import { isCancelable, type PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { cancelJobs } from './cancel.ts';

/** Pipelines of the ref that are looked at: the newest. */
const MAX_OLDER = 20;

/**
 * Cancels the older pipelines of a branch that a new commit makes superfluous, as far as none of their jobs has begun that
 * must not be interrupted.
 */
export async function replaceOlder(
  deps: Deps,
  { project }: ProjectAccess,
  made: PipelineRecord,
): Promise<void> {
  if (project.settings['auto_cancel_pending_pipelines'] === 'disabled') return;
  const { id, ref, sha, tag, status } = made;
  if (tag === true || status !== 'created') return;
  const newest = await deps.store.pipelines.newestOfRef(project.id, ref, MAX_OLDER);
  for (const older of newest) {
    const isOlder = older.id < id && older.sha !== sha && older.source !== 'parent_pipeline';
    if (!isOlder || older.jobStatus === undefined || !isCancelable(older.status)) continue;
    await cancelJobs(deps, older, (jobs) =>
      jobs.every(({ interruptible, startedAt }) => interruptible || startedAt === null),
    );
  }
}
