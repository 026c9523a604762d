/** What calls ask about pipelines and do with them. */

import {
  type CiStatus,
  ENDED,
  hasEnded,
  type PipelineRecord,
  type PipelineSource,
} from '../../records/pipelines.ts';
import { Stale } from '../../store/errors.ts';
import type { JobChange } from '../../store/jobs/jobs.ts';
import type { PipelineOrder } from '../../store/row-keys/pipelines.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { closedTo } from '../environments/protected.ts';
import { conflict, recordNotFound } from '../errors.ts';
import { repeated } from '../jobs/repeat.ts';
import { codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { advanceMessage, sumUp } from './advance-pipeline.ts';
import { cancelJobs, removePipeline } from './cancel.ts';
import { archivedUntil, requireMayUpdate } from './may-update.ts';

export const PIPELINE_SCOPES = ['running', 'pending', 'finished', 'branches', 'tags'] as const;

export interface PipelineListQuery extends PageRequest {
  readonly scope?: (typeof PIPELINE_SCOPES)[number] | undefined;
  readonly status?: CiStatus | undefined;
  readonly ref?: string | undefined;
  readonly sha?: string | undefined;
  readonly yamlErrors?: boolean | undefined;
  readonly username?: string | undefined;
  /** Of who made it. */
  readonly name?: string | undefined;
  readonly source?: PipelineSource | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  readonly order: PipelineOrder | 'ID';
  readonly direction: 'asc' | 'desc';
  /** Only those behind this one, in the order of ids. */
  readonly past?: number | undefined;
}

const NONE: Page<PipelineRecord> = { items: [], total: 0, more: false };

/** @returns a page; a filter that no row answers looks at 5,000 pipelines at most */
export async function listPipelines(
  { store }: Deps,
  { project }: ProjectAccess,
  query: PipelineListQuery,
): Promise<Page<PipelineRecord>> {
  const { page, perPage, count, order, direction, scope, sha, ref, username } = query;
  const user = username === undefined ? undefined : await store.users.byUsername(username);
  if (username !== undefined && user === undefined) return NONE;
  const ofScope = scope === 'running' || scope === 'pending' ? scope : undefined;
  if (ofScope !== undefined && query.status !== undefined && query.status !== ofScope) return NONE;
  const status = query.status ?? ofScope;
  const where = filterOf(query);
  return store.pipelineList.page(
    project.id,
    {
      order,
      direction,
      sha,
      ref,
      statuses: status !== undefined ? [status] : scope === 'finished' ? ENDED : undefined,
      userId: user?.id,
      updatedFrom: query.updatedAfter?.toISOString(),
      updatedTo: query.updatedBefore?.toISOString(),
      past: query.past,
      where,
    },
    { page, perPage, ...(count === undefined ? {} : { count }) },
  );
}

/** What no row finds. */
function filterOf({
  scope,
  status,
  yamlErrors,
  name,
  source,
}: PipelineListQuery): ((pipeline: PipelineRecord) => boolean) | undefined {
  const filters: ((pipeline: PipelineRecord) => boolean)[] = [];
  if (scope === 'finished' && status !== undefined) filters.push((each) => hasEnded(each.status));
  if (scope === 'branches' || scope === 'tags') filters.push(newestOfRefs(scope === 'tags'));
  if (yamlErrors !== undefined) filters.push((each) => (each.yamlErrors !== undefined) === yamlErrors);
  if (name !== undefined) filters.push(({ author }) => author.name === name);
  if (source !== undefined) filters.push((each) => each.source === source);
  return filters.length === 0 ? undefined : (pipeline) => filters.every((fits) => fits(pipeline));
}

/** The first pipeline of each branch, or tag, that a list comes to. */
function newestOfRefs(tags: boolean): (pipeline: PipelineRecord) => boolean {
  const seen = new Set<string>();
  return ({ ref, tag }) => {
    if ((tag === true) !== tags || ref.startsWith('refs/') || seen.has(ref)) return false;
    seen.add(ref);
    return true;
  };
}

/** @throws `404 Not found` */
export async function getPipeline(
  { store }: Deps,
  { project }: ProjectAccess,
  id: number,
): Promise<PipelineRecord> {
  const found = await store.pipelines.byId(project.id, id);
  if (found === undefined) throw recordNotFound();
  return found;
}

/** The newest pipeline of the commit that a branch points to. @throws `404 Not found` */
export async function latestPipeline(
  deps: Deps,
  access: ProjectAccess,
  ref: string | undefined,
): Promise<PipelineRecord> {
  const name = ref ?? access.project.defaultBranch;
  if (name === null) throw recordNotFound();
  const tip = await codeOf(deps, access).resolve(name);
  const found = tip && (await deps.store.pipelines.ofRef(access.project.id, tip.commit, name));
  if (found === undefined) throw recordNotFound();
  return found;
}

const isStale = (error: unknown): boolean => error instanceof Stale;

/**
 * Repeats the jobs of a pipeline that failed or were cancelled, but for those of environments that are protected from the
 * actor, and lets those go on that were skipped.
 * @throws `404 Not found`; 403 on a protected branch that the actor may not push to
 */
export async function retryPipeline(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<PipelineRecord> {
  const { user } = signedIn(actor);
  const { store, now } = deps;
  await requireMayUpdate(deps, actor, access, await getPipeline(deps, access, id));
  const archived = await archivedUntil(deps);
  try {
    return await retryOnConflict(async () => {
      const pipeline = await getPipeline(deps, access, id);
      const jobs = new Map((await store.jobs.all(id)).map((job) => [job.id, job]));
      const current = [...jobs.values()].filter(({ retried }) => !retried);
      const ended = current.filter(
        ({ status, createdAt }) => (status === 'failed' || status === 'canceled') && createdAt >= archived,
      );
      const names = ended.flatMap(({ environment }) => environment?.name ?? []);
      const closed = await closedTo(deps, actor, access, names);
      const again = ended.filter(
        ({ environment }) => environment === undefined || !closed.has(environment.name),
      );
      for (const job of again)
        for (const each of await repeated(deps, job, { userId: user.id, attempt: 0, advance: false }, now()))
          jobs.set(each.id, each);
      const at = now().toISOString();
      const changes: JobChange[] = current
        .filter(({ status }) => status === 'skipped')
        .map((job) => ({ job, change: { status: 'created', finishedAt: null, updatedAt: at } }));
      for (const group of store.jobs.groupsOf(changes))
        for (const job of await store.jobs.change(group, { advance: false })) jobs.set(job.id, job);
      if (again.length + changes.length === 0) return pipeline;
      await store.outbox.commit([], [advanceMessage(access.project.id, id)]);
      return sumUp(deps, pipeline, [...jobs.values()]);
    }, isStale);
  } catch (error) {
    throw isStale(error) ? conflict() : error;
  }
}

/** @throws `404 Not found`; 403 on a protected branch that the actor may not push to */
export async function cancelPipeline(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<PipelineRecord> {
  const pipeline = await getPipeline(deps, access, id);
  await requireMayUpdate(deps, actor, access, pipeline);
  try {
    return await cancelJobs(deps, pipeline);
  } catch (error) {
    throw isStale(error) ? conflict() : error;
  }
}

/** @throws `404 Not found`; what `unchanged` throws for the time of its last change */
export async function deletePipeline(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  unchanged: (updatedAt: string) => void,
): Promise<void> {
  try {
    await retryOnConflict(async () => {
      const pipeline = await getPipeline(deps, access, id);
      unchanged(pipeline.updatedAt);
      await removePipeline(deps, pipeline);
    }, isStale);
  } catch (error) {
    throw isStale(error) ? conflict() : error;
  }
}
