/** Files that jobs have left, as users and other jobs get them. */
import { archiveOf, type JobArtifact } from '../../records/artifacts.ts';
import type { JobRecord, PipelineRecord } from '../../records/pipelines.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import { requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { changeJob, getJob } from '../jobs/find.ts';

/** Pipelines of a ref among which the newest that succeeded is looked for. */
export const MAX_PIPELINES = 1000;
/** Pipelines that a pipeline started, and these in turn, among whose jobs a name is looked for. */
const MAX_CHILDREN = 50;

/** The archive of a job. @throws 404; 401 or 403 where it is for members alone */
export async function archiveOfJob(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<JobArtifact> {
  return readableArchive(actor, access, await getJob(deps, access, id));
}

/**
 * The archive of the job of a name in the newest pipeline of a ref that succeeded; otherwise in the oldest that has one of
 * the pipelines that this one started, and so on.
 * @throws as {@link archiveOfJob}
 */
export async function archiveOfRef(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  ref: string,
  name: string,
): Promise<JobArtifact> {
  const found = await newestWithArchive(deps, access.project.id, ref, name);
  if (found === undefined) throw notFound();
  return readableArchive(actor, access, found);
}

/** The job that {@link archiveOfRef} finds. */
export async function newestWithArchive(
  deps: Deps,
  projectId: number,
  ref: string,
  name: string,
): Promise<JobRecord | undefined> {
  const newest = await deps.store.pipelines.newestSuccess(projectId, ref, MAX_PIPELINES);
  if (newest === undefined) return undefined;
  let level: readonly Pick<PipelineRecord, 'id'>[] = [newest];
  for (let seen = 0; level.length > 0; ) {
    const some = level.slice(0, MAX_CHILDREN - seen);
    seen += some.length;
    const jobs = await Promise.all(some.map(({ id }) => deps.store.jobs.all(id)));
    const found = jobs.map((each) => withArchive(each, name)).find((each) => each !== undefined);
    if (found !== undefined) return found;
    level = jobs
      .flat()
      .flatMap(({ downstream, retried }) =>
        downstream === undefined || retried || downstream.projectId !== projectId
          ? []
          : [{ id: downstream.pipelineId }],
      )
      .toSorted((a, b) => a.id - b.id);
  }
  return undefined;
}

/** Of these jobs of a pipeline the newest of a name that succeeded and left an archive. */
export const withArchive = (jobs: readonly JobRecord[], name: string): JobRecord | undefined =>
  jobs
    .filter((job) => job.name === name && job.status === 'success' && !job.retried)
    .filter((job) => archiveOf(job) !== undefined)
    .toSorted((a, b) => b.id - a.id)[0];

function readableArchive(actor: Actor, access: ProjectAccess, job: JobRecord): JobArtifact {
  if (job.privateArtifacts === true) requireAbility(actor, access, 'read_private_artifacts');
  const archive = archiveOf(job);
  if (archive === undefined) throw notFound();
  return archive;
}

/** Keeps what a job has left, whatever was said of its end. @throws 404 */
export const keepArtifacts = (deps: Deps, access: ProjectAccess, id: number): Promise<JobRecord> =>
  changeJob(deps, access, id, async (job) => {
    if (job.artifacts.length === 0) throw notFound();
    if (job.artifactsExpireAt === null) return job;
    const [kept] = await deps.store.jobs.change([{ job, change: { artifactsExpireAt: null } }], {
      advance: false,
    });
    return kept!;
  });

/** Deletes what a job has left, its trace excepted. @throws 404 */
export async function deleteArtifacts(deps: Deps, access: ProjectAccess, id: number): Promise<void> {
  await changeJob(deps, access, id, async (job) => {
    if (job.artifacts.length === 0) throw notFound();
    return withoutArtifacts(deps, job);
  });
}

/** Takes the files out of the record of a job, and promises to delete them. @throws Stale */
export async function withoutArtifacts(deps: Deps, job: JobRecord): Promise<JobRecord> {
  const { store, now } = deps;
  const messages = store.artifacts.unlisted(job, job.artifacts);
  const change = { artifacts: [], artifactsExpireAt: null };
  const [rest] = await store.jobs.change([{ job, change }], { advance: false, messages });
  await store.table.put(scheduleMeasuring(job.projectId, now()));
  return rest!;
}
