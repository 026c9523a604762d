/** What runners have done. */
import type { CiStatus, JobRecord } from '../../records/pipelines.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { requireOwned, runnerOfId } from './runners.ts';

export interface RunnerJobQuery {
  readonly status?: CiStatus | undefined;
  /** Of ids. */
  readonly direction: 'asc' | 'desc';
}

/**
 * The jobs that a runner has taken, of projects whose pipelines the actor may read.
 * @returns a page, and the projects of its jobs
 * @throws `404 Runner Not Found`; 403 for those who do not own it
 */
export async function jobsOfRunner(
  deps: Deps,
  actor: Actor,
  id: number,
  { status, direction }: RunnerJobQuery,
  request: PageRequest,
): Promise<Page<JobRecord> & { readonly projects: ReadonlyMap<number, ProjectAccess> }> {
  const runner = await runnerOfId(deps, id);
  await requireOwned(deps, actor, runner);
  const projects = new Map<number, ProjectAccess>();
  const asked = new Set<number>();
  const visible = async (jobs: readonly JobRecord[]) => {
    const ids = [...new Set(jobs.map(({ projectId }) => projectId))].filter((each) => !asked.has(each));
    for (const each of ids) asked.add(each);
    for (const access of ids.length === 0 ? [] : await projectAccesses(deps, actor, ids))
      if (access !== undefined && can(actor, access, 'read_pipelines'))
        projects.set(access.project.id, access);
    return ({ projectId }: JobRecord) => projects.has(projectId);
  };
  const where = status === undefined ? undefined : (job: JobRecord) => job.status === status;
  const page = await deps.store.jobList.ofRunner(id, { direction, where, visible }, request);
  return { ...page, projects };
}
