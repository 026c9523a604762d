/**
 * Jobs that start other pipelines: child pipelines of the same commit, and pipelines of other projects; and jobs that take over
 * the status of another pipeline.
 */

import { expand } from '../../ci/variables.ts';
import {
  hasEnded,
  type JobRecord,
  type JobSpec,
  type PipelineRecord,
  type PipelineVariable,
} from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import { textsOf } from '../ci-variables/job-variables.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { filesLeftIn } from './artifact-files.ts';
import { createPipeline } from './create.ts';
import { variablesOfJob } from './job-variables.ts';
import { factsOfPipeline } from './merge-request-facts.ts';
import { mirroredEnd, watchedPipeline } from './mirrors.ts';
import { NotStarted } from './not-started.ts';
import type { PipelineRequest } from './request.ts';
import { changedStatuses, toldOfJobs } from './tell-hooks.ts';

/** Child pipelines below one another. */
const MAX_CHILDREN = 2;
/** Pipelines that started one another. */
const MAX_DEPTH = 20;
/** How often one chain may start pipelines of the same ref of a project. */
const MAX_CYCLES = 2;
/** Pipelines among which that of the job is looked for, which may have been made before: the newest. */
const LOOKED_AT = 50;

interface Place {
  readonly project: ProjectRecord;
  readonly pipeline: PipelineRecord;
}

/** In the words of the configuration. */
interface Trigger {
  readonly project?: string;
  readonly branch?: string;
  readonly strategy?: 'depend';
  readonly include?: readonly Readonly<Record<string, unknown>>[];
  readonly forward?: { readonly yaml_variables?: boolean; readonly pipeline_variables?: boolean };
}

/**
 * Starts the pipelines of jobs that are ready to, and ends jobs as the pipelines did that they wait for or take over from.
 * @returns the same list where nothing changed. @throws Stale
 */
export async function withBridges(
  deps: Deps,
  place: Place,
  jobs: readonly JobRecord[],
): Promise<readonly JobRecord[]> {
  const all: JobRecord[] = [];
  let moved = false;
  for (const job of jobs) {
    const change = await changeOf(deps, place, job);
    if (change === undefined) {
      all.push(job);
      continue;
    }
    moved = true;
    const at = deps.now().toISOString();
    const changed = { job, change: { ...change, updatedAt: at } };
    const messages = await toldOfJobs(deps, place.project, place.pipeline, changedStatuses([changed]));
    all.push((await deps.store.jobs.change([changed], { advance: false, messages }))[0]!);
  }
  return moved ? all : jobs;
}

async function changeOf(deps: Deps, place: Place, job: JobRecord): Promise<Partial<JobRecord> | undefined> {
  if (job.kind !== 'bridge' || job.retried) return undefined;
  if (job.status === 'pending') return started(deps, place, job);
  const other = job.downstream ?? job.upstream;
  if (job.status !== 'running' || other === undefined) return undefined;
  const ended = await deps.store.pipelines.byId(other.projectId, other.pipelineId);
  if (ended !== undefined && !hasEnded(ended.status)) return undefined;
  const finishedAt = deps.now().toISOString();
  if (job.downstream === undefined) return { ...mirroredEnd(ended), finishedAt };
  return ended?.status === 'success'
    ? { status: 'success', finishedAt }
    : { status: 'failed', failureReason: 'downstream_pipeline_failed', finishedAt };
}

async function started(deps: Deps, place: Place, job: JobRecord): Promise<Partial<JobRecord>> {
  const at = deps.now().toISOString();
  try {
    const spec = await deps.store.jobs.spec(job);
    const trigger = spec?.trigger as Trigger | undefined;
    if (spec?.upstream !== undefined && trigger === undefined)
      return await mirroring(deps, place, job, spec.upstream);
    if (spec === undefined || trigger === undefined) throw new NotStarted('invalid_bridge_trigger');
    const { id: pipelineId, projectId } = await downstreamOf(deps, place, job, spec, trigger);
    const downstream = { projectId, pipelineId };
    return trigger.strategy === 'depend'
      ? { status: 'running', startedAt: at, downstream }
      : { status: 'success', startedAt: at, finishedAt: at, downstream };
  } catch (error) {
    if (!(error instanceof NotStarted || error instanceof DomainError)) throw error;
    const failureReason = error instanceof NotStarted ? error.reason : 'downstream_pipeline_creation_failed';
    return { status: 'failed', failureReason, finishedAt: at };
  }
}

/** Takes over the status of a pipeline of another project, or waits for its end. @throws NotStarted, Stale */
async function mirroring(
  deps: Deps,
  { pipeline }: Place,
  job: JobRecord,
  path: string,
): Promise<Partial<JobRecord>> {
  const actor = await starterOf(deps, pipeline, job);
  const watched = await watchedPipeline(deps, actor, path, await chainOf(deps, pipeline));
  const at = deps.now().toISOString();
  const upstream = { projectId: watched.projectId, pipelineId: watched.id };
  return hasEnded(watched.status)
    ? { ...mirroredEnd(watched), startedAt: at, finishedAt: at, upstream }
    : { status: 'running', startedAt: at, upstream };
}

/** @throws NotStarted where the account is gone or blocked */
async function starterOf(
  { store, environment }: Deps,
  { baseUrl }: PipelineRecord,
  { userId }: JobRecord,
): Promise<Actor & { readonly kind: 'user' }> {
  const user = await store.users.get(userId);
  if (user === undefined || user.state !== 'active') throw new NotStarted('insufficient_bridge_permissions');
  return actingFor(user, baseUrl ?? environment.baseUrl ?? '');
}

/** The pipeline that a job starts: it is made once. @throws NotStarted, DomainError */
async function downstreamOf(
  deps: Deps,
  { project, pipeline }: Place,
  job: JobRecord,
  spec: JobSpec,
  trigger: Trigger,
): Promise<PipelineRecord> {
  const { store } = deps;
  const baseUrl = pipeline.baseUrl ?? deps.environment.baseUrl ?? '';
  const actor = await starterOf(deps, pipeline, job);
  const texts = textsOf(await variablesOfJob(deps, { project, pipeline, job, spec, baseUrl }));
  const chain = await chainOf(deps, pipeline);
  const [access, request] =
    trigger.include === undefined
      ? await elsewhere(deps, actor, trigger, texts, chain)
      : await child(deps, actor, { project, pipeline }, trigger.include, chain);
  const madeBy = `bridge ${job.id}`;
  const known = await store.pipelines.newestOfRef(access.project.id, shortOf(request.ref), LOOKED_AT);
  const made = known.find((each) => each.madeBy === madeBy);
  if (made !== undefined) return made;
  const { yaml_variables: own = true, pipeline_variables: given = false } = trigger.forward ?? {};
  const variables: PipelineVariable[] = [
    ...(given ? await store.jobs.variables(pipeline.id) : []),
    ...Object.entries(own ? spec.variables : {}).map(([key, value]) => ({
      key,
      value: expand(value, texts),
      type: 'env_var' as const,
    })),
  ];
  const parent = { projectId: project.id, pipelineId: pipeline.id, jobId: job.id };
  return createPipeline(deps, actor, access, { ...request, variables, parent, madeBy });
}

/** A pipeline and those that started it, one after the other. @throws NotStarted for a chain that is too long */
async function chainOf({ store }: Deps, pipeline: PipelineRecord): Promise<readonly PipelineRecord[]> {
  const chain = [pipeline];
  for (let at = pipeline.parent; at !== undefined; at = chain.at(-1)!.parent) {
    if (chain.length >= MAX_DEPTH) throw new NotStarted('reached_max_descendant_pipelines_depth');
    const above = await store.pipelines.byId(at.projectId, at.pipelineId);
    if (above === undefined) break;
    chain.push(above);
  }
  return chain;
}

async function elsewhere(
  deps: Deps,
  actor: Actor & { readonly kind: 'user' },
  { project: named = '', branch }: Trigger,
  texts: ReadonlyMap<string, string>,
  chain: readonly PipelineRecord[],
): Promise<readonly [ProjectAccess, PipelineRequest]> {
  const found = await deps.store.projects.byPath(expand(named, texts));
  const [access] = found === undefined ? [] : await projectAccesses(deps, actor, [found.id]);
  if (access === undefined) throw new NotStarted('downstream_bridge_project_not_found');
  if (!can(actor, access, 'create_pipeline')) throw new NotStarted('insufficient_bridge_permissions');
  const ref = branch === undefined ? access.project.defaultBranch : expand(branch, texts);
  if (ref === null || ref === '') throw new NotStarted('downstream_pipeline_creation_failed');
  const again = chain.filter(
    (each) => each.source !== 'parent_pipeline' && each.projectId === access.project.id && each.ref === ref,
  );
  if (again.length >= MAX_CYCLES) throw new NotStarted('pipeline_loop_detected');
  return [access, { ref, source: 'pipeline' }];
}

async function child(
  deps: Deps,
  actor: Actor & { readonly kind: 'user' },
  { project, pipeline }: Place,
  include: NonNullable<Trigger['include']>,
  chain: readonly PipelineRecord[],
): Promise<readonly [ProjectAccess, PipelineRequest]> {
  const other = chain.findIndex(({ source }) => source !== 'parent_pipeline');
  if ((other < 0 ? chain.length : other) >= MAX_CHILDREN)
    throw new NotStarted('reached_max_descendant_pipelines_depth');
  const [access] = await projectAccesses(deps, actor, [project.id]);
  if (access === undefined || !can(actor, access, 'create_pipeline'))
    throw new NotStarted('insufficient_bridge_permissions');
  const { ref, sha, tag, beforeSha } = pipeline;
  const full = ref.startsWith('refs/') ? ref : `refs/${tag === true ? 'tags' : 'heads'}/${ref}`;
  return [
    access,
    {
      ref: full,
      sha,
      source: 'parent_pipeline',
      beforeSha,
      mergeRequest: await factsOfPipeline(deps, project, pipeline),
      // JSON is YAML.
      config: JSON.stringify({ include }),
      artifact: filesLeftIn(deps, pipeline.id),
    },
  ];
}

const shortOf = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');
