/** Archives that a job needs of other pipelines: of another project, or of one in the same family as its own. */
import type { JobRecord, JobSpec, PipelineRecord } from '../../records/pipelines.ts';
import { locateProject } from '../access/locate.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { newestWithArchive, withArchive } from './artifacts.ts';

/** Pipelines that started each other, above one. */
const MAX_ABOVE = 10;

type CrossNeed = JobSpec['crossNeeds'][number];

/**
 * The jobs whose archives a job needs of other pipelines: of a project that whoever started it may read, of the newest pipeline
 * of the ref that succeeded; or of a pipeline of its family.
 * @returns undefined where one is missing
 */
export async function crossDependencies(
  deps: Deps,
  job: JobRecord,
  { crossNeeds }: JobSpec,
): Promise<readonly JobRecord[] | undefined> {
  const wanted = crossNeeds.filter(({ artifacts }) => artifacts !== false);
  const found = await Promise.all(wanted.map((need) => jobOf(deps, job, need)));
  return found.some((each) => each === undefined) ? undefined : (found as JobRecord[]);
}

async function jobOf(deps: Deps, asking: JobRecord, need: CrossNeed): Promise<JobRecord | undefined> {
  const name = String(need['job']);
  if (typeof need['project'] === 'string') {
    const projectId = await projectOf(deps, need['project']);
    const found =
      projectId && (await newestWithArchive(deps, projectId, shortRef(String(need['ref'])), name));
    return found && (await mayFetch(deps, asking, found)) ? found : undefined;
  }
  const id = Number(need['pipeline']);
  if (!Number.isSafeInteger(id) || id <= 0) return undefined;
  const [theirs, own] = await Promise.all([
    rootOf(deps, asking.projectId, id),
    rootOf(deps, asking.projectId, asking.pipelineId),
  ]);
  if (theirs === undefined || theirs !== own) return undefined;
  return withArchive(await deps.store.jobs.all(id), name);
}

const projectOf = async (deps: Deps, path: string): Promise<number | undefined> =>
  path.includes('/') ? (await locateProject(deps, path)).id : undefined;

const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');

/** The pipeline of a project that led to another one; undefined for one that there is not. */
async function rootOf({ store }: Deps, projectId: number, id: number): Promise<number | undefined> {
  let at: PipelineRecord | undefined = await store.pipelines.byId(projectId, id);
  for (let above = 0; at?.parent?.projectId === projectId && above < MAX_ABOVE; above++)
    at = await store.pipelines.byId(projectId, at.parent.pipelineId);
  return at?.id;
}

/** Whether a running job may fetch the archive of one of another project: it says so, and who started it may read it. */
export async function mayFetchOf(deps: Deps, asking: JobRecord, job: JobRecord): Promise<boolean> {
  const { crossNeeds = [] } = (await deps.store.jobs.spec(asking)) ?? {};
  for (const { project, job: name } of crossNeeds)
    if (
      name === job.name &&
      typeof project === 'string' &&
      (await projectOf(deps, project)) === job.projectId
    )
      return mayFetch(deps, asking, job);
  return false;
}

async function mayFetch(deps: Deps, asking: JobRecord, job: JobRecord): Promise<boolean> {
  const user = await deps.store.users.get(asking.userId);
  if (user === undefined) return false;
  const actor = actingFor(user, deps.environment.baseUrl ?? '');
  const [access] = await projectAccesses(deps, actor, [job.projectId]);
  if (access === undefined || !can(actor, access, 'read_pipelines')) return false;
  return job.privateArtifacts !== true || can(actor, access, 'read_private_artifacts');
}
