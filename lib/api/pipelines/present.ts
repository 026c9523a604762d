import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { commitsOf } from '../../domain/pipelines/commits-of.ts';
import { visibleDownstreams } from '../../domain/pipelines/downstreams.ts';
import { ZERO_OID } from '../../git/oid.ts';
import { archiveOf } from '../../records/artifacts.ts';
import {
  type CiStatus,
  type JobRecord,
  type PipelineRecord,
  secondsBetween,
} from '../../records/pipelines.ts';
import { commitBasic, pipelineBasic } from '../commits/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { projectIdentity } from '../projects/identity.ts';
import { projectUrl } from '../projects/present.ts';
import { runnerBasic } from '../runners/present.ts';
import { author, userBasic } from '../users/present.ts';

/** Icon, group, and what it is called where that differs from the status. */
const WORDS: Readonly<Record<CiStatus, readonly [icon: string, group: string, text?: string]>> = {
  created: ['status_created', 'created'],
  waiting_for_resource: ['status_pending', 'waiting-for-resource', 'waiting'],
  preparing: ['status_preparing', 'preparing'],
  pending: ['status_pending', 'pending'],
  running: ['status_running', 'running'],
  success: ['status_success', 'success', 'passed'],
  failed: ['status_failed', 'failed'],
  canceled: ['status_canceled', 'canceled'],
  skipped: ['status_skipped', 'skipped'],
  manual: ['status_manual', 'manual'],
  scheduled: ['status_scheduled', 'scheduled'],
};

function detailedStatus(status: CiStatus, path: string) {
  const [icon, group, text = status] = WORDS[status];
  return {
    icon,
    text,
    label: text,
    group,
    tooltip: text,
    has_details: true,
    details_path: path,
    illustration: null,
    favicon: `/assets/ci_favicons/favicon_${icon}.png`,
  };
}

export async function pipelineDetail(
  { store }: ApiDeps,
  { project }: ProjectAccess,
  pipeline: PipelineRecord,
  baseUrl: string,
) {
  const account = await store.users.get(pipeline.author.id);
  const { createdAt, startedAt, finishedAt, coverage } = pipeline;
  return {
    ...pipelineBasic(pipeline, projectUrl(project, baseUrl)),
    before_sha: pipeline.beforeSha ?? ZERO_OID,
    tag: pipeline.tag === true,
    yaml_errors: pipeline.yamlErrors ?? null,
    user: author(account, pipeline.author, baseUrl),
    started_at: startedAt,
    finished_at: finishedAt,
    committed_at: pipeline.committedAt ?? null,
    duration: pipeline.duration ?? null,
    queued_duration: secondsBetween(createdAt, startedAt),
    coverage: coverage == null ? null : coverage.toFixed(2),
    detailed_status: detailedStatus(pipeline.status, `/${project.fullPath}/-/pipelines/${pipeline.id}`),
  };
}

/** Jobs with their users, commits and pipelines, each read once. */
async function facts(deps: ApiDeps, access: ProjectAccess, jobs: readonly JobRecord[]) {
  const ids = [...new Set(jobs.map(({ userId }) => userId))];
  const runnerIds = [...new Set(jobs.flatMap(({ runnerId }) => runnerId ?? []))];
  const places = new Map(jobs.map(({ pipelineId, sha }) => [pipelineId, sha]));
  const [users, commits, pipelines, runners] = await Promise.all([
    deps.store.users.shown(ids),
    commitsOf(deps, access, [...new Set(jobs.map(({ sha }) => sha))]),
    deps.store.pipelines.getMany(access.project.id, places),
    runnerIds.length === 0 ? [] : deps.store.runners.getMany(runnerIds),
  ]);
  return {
    user: new Map(ids.map((id, i) => [id, users[i]])),
    commits,
    pipelines,
    runner: new Map(runnerIds.map((id, i) => [id, runners[i]])),
  };
}

type Facts = Awaited<ReturnType<typeof facts>>;

function basic(job: JobRecord, { user, commits, pipelines }: Facts, access: ProjectAccess, baseUrl: string) {
  const url = projectUrl(access.project, baseUrl);
  const account = user.get(job.userId);
  const commit = commits.get(job.sha);
  return {
    id: job.id,
    status: job.status,
    stage: job.stage,
    name: job.name,
    ref: job.ref,
    tag: job.tag,
    coverage: job.coverage,
    allow_failure: job.allowFailure,
    created_at: job.createdAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    duration: secondsBetween(job.startedAt, job.finishedAt),
    queued_duration: secondsBetween(job.queuedAt, job.startedAt),
    user: account === undefined ? null : userBasic(account, baseUrl),
    commit: commit === undefined ? null : commitBasic(commit, url),
    pipeline: pipelineBasic(pipelines.get(job.pipelineId)!, url),
    ...(job.status === 'failed' ? { failure_reason: job.failureReason ?? 'unknown_failure' } : {}),
    web_url: `${url}/-/jobs/${job.id}`,
  };
}

/** Without those of pipelines that are being made, or deleted. */
export async function presentedJobs(
  deps: ApiDeps,
  access: ProjectAccess,
  jobs: readonly JobRecord[],
  baseUrl: string,
) {
  const known = await facts(deps, access, jobs);
  return jobs
    .filter(({ pipelineId }) => known.pipelines.has(pipelineId))
    .map((job) => {
      const archive = archiveOf(job);
      return {
        ...basic(job, known, access, baseUrl),
        artifacts: job.artifacts.map(({ type, size, filename, format }) => ({
          file_type: type,
          size,
          filename,
          file_format: format,
        })),
        ...(archive === undefined
          ? {}
          : { artifacts_file: { filename: archive.filename, size: archive.size } }),
        runner: runnerOf(job, known, deps.now()),
        artifacts_expire_at: job.artifactsExpireAt,
        tag_list: [...job.tags],
      };
    });
}

/** Jobs of several projects, each with its project. */
export async function presentedBasicJobs(
  deps: ApiDeps,
  projects: ReadonlyMap<number, ProjectAccess>,
  jobs: readonly JobRecord[],
  baseUrl: string,
) {
  const shown = await Promise.all(
    [...Map.groupBy(jobs, ({ projectId }) => projectId)].map(async ([projectId, some]) => {
      const access = projects.get(projectId)!;
      const known = await facts(deps, access, some);
      return some
        .filter(({ pipelineId }) => known.pipelines.has(pipelineId))
        .map((job) => ({ ...basic(job, known, access, baseUrl), project: projectIdentity(access.project) }));
    }),
  );
  const byId = new Map(shown.flat().map((job) => [job.id, job]));
  return jobs.flatMap(({ id }) => byId.get(id) ?? []);
}

/** The runner that took a job; null where none did, or it is gone. */
function runnerOf({ runnerId }: JobRecord, { runner }: Facts, now: Date) {
  const found = runnerId === null ? undefined : runner.get(runnerId);
  return found === undefined ? null : runnerBasic(found, now);
}

export async function presentedJob(deps: ApiDeps, access: ProjectAccess, job: JobRecord, baseUrl: string) {
  return (await presentedJobs(deps, access, [job], baseUrl))[0]!;
}

export async function presentedBridges(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  jobs: readonly JobRecord[],
  baseUrl: string,
) {
  const [known, downstream] = await Promise.all([
    facts(deps, access, jobs),
    visibleDownstreams(deps, actor, jobs),
  ]);
  const downstreamOf = ({ id }: JobRecord) => {
    const found = downstream.get(id);
    return found === undefined ? null : pipelineBasic(found.pipeline, projectUrl(found.project, baseUrl));
  };
  return jobs
    .filter(({ pipelineId }) => known.pipelines.has(pipelineId))
    .map((job) => ({ ...basic(job, known, access, baseUrl), downstream_pipeline: downstreamOf(job) }));
}
