/** Deletion of what all jobs of a project have left. */
import type { CiStatus, JobRecord } from '../../records/pipelines.ts';
import { Stale } from '../../store/errors.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import type { JobContext, JobOutcome } from '../job.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** Jobs that are looked at at a time. */
const PAGE = 100;
const WIDTH = 8;
/** In which jobs may have left something, and leave nothing more. */
const ENDED: readonly CiStatus[] = ['success', 'failed', 'canceled'];

export const deleteProjectArtifacts = async (deps: Deps, { project }: ProjectAccess): Promise<void> => {
  const told = deps.store.artifacts.expiryOfProject(project.id, deps.now().toISOString());
  await deps.store.outbox.commit([], [told]);
};

export interface ProjectExpiry {
  readonly projectId: number;
  /** Of the request: what jobs begin later stays. */
  readonly at: string;
  /** Where to go on. */
  readonly status?: string | undefined;
  readonly after?: number | undefined;
}

/**
 * Lets everything expire now that the ended jobs of a project have left: the job of each then deletes it, unless it is kept as
 * that of the newest pipeline of its ref, and looks again.
 */
export async function expireProjectArtifacts(
  deps: Deps,
  { projectId, at, status, after = 0 }: ProjectExpiry,
  { deadline }: Pick<JobContext, 'deadline'>,
): Promise<JobOutcome> {
  const project = await deps.store.projects.get(projectId);
  if (project === undefined || project.deletedAt !== null) return undefined;
  for (let of = Math.max(0, ENDED.indexOf(status as CiStatus)), from = after; of < ENDED.length; ) {
    const { jobs, next } = await deps.store.jobList.inStatus(projectId, ENDED[of]!, from, PAGE);
    await mapLimit(
      WIDTH,
      jobs.filter((job) => expires(job, at)),
      (job) => expireNow(deps, job, at),
    );
    if (next === undefined) of++;
    from = next ?? 0;
    if (deps.now().getTime() > deadline && of < ENDED.length)
      return { body: { projectId, at, status: ENDED[of]!, ...(from === 0 ? {} : { after: from }) } };
  }
  return undefined;
}

/** Whether that is not done yet. */
const expires = ({ artifacts, createdAt, artifactsExpireAt }: JobRecord, at: string): boolean =>
  artifacts.length > 0 && createdAt <= at && (artifactsExpireAt === null || artifactsExpireAt > at);

async function expireNow({ store }: Deps, { pipelineId, id }: JobRecord, at: string): Promise<void> {
  await retryOnConflict(
    async () => {
      const job = await store.jobs.ofPipeline(pipelineId, id);
      if (job === undefined || !expires(job, at)) return;
      const messages = [store.artifacts.expiry(job, at)];
      await store.jobs.change([{ job, change: { artifactsExpireAt: at } }], { advance: false, messages });
    },
    (error) => error instanceof Stale,
  );
}
