/** Payloads of pipelines and jobs. */

import { ZERO_OID } from '../../../git/oid.ts';
import { archiveOf } from '../../../records/artifacts.ts';
import {
  type CiStatus,
  hasEnded,
  type JobRecord,
  type PipelineRecord,
  secondsBetween,
} from '../../../records/pipelines.ts';
import type { RunnerRecord } from '../../../records/runners.ts';
import type { UserRecord } from '../../../records/users.ts';
import type { Deps } from '../../deps.ts';
import type { HookEvent } from '../../hook-events/events.ts';
import {
  commitOf,
  commitPart,
  type Payload,
  type ProjectFacts,
  projectPart,
  projectUrl,
  stamp,
  stampOrNull,
  userPart,
  wholeRepository,
} from './parts.ts';
import { statusOf } from './tracked.ts';

type EventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>;

/** What statuses of pipelines are called where that differs. */
const LABELS: Readonly<Partial<Record<CiStatus, string>>> = {
  success: 'passed',
  manual: 'waiting for manual action',
  scheduled: 'waiting for delayed job',
  waiting_for_resource: 'waiting for resource',
};

function labelOf(status: CiStatus, jobs: readonly JobRecord[]): string {
  const warns = status === 'success' && jobs.some((job) => job.status === 'failed' && job.allowFailure);
  return warns ? 'passed with warnings' : (LABELS[status] ?? status);
}

const runnerPart = (runner: RunnerRecord | undefined) =>
  runner === undefined
    ? null
    : {
        id: runner.id,
        description: runner.description,
        runner_type: runner.type,
        active: !runner.paused,
        is_shared: runner.type === 'instance_type',
        tags: [...runner.tags],
      };

const environmentPart = ({ environment }: JobRecord) =>
  environment === undefined
    ? null
    : { name: environment.name, action: environment.action, deployment_tier: environment.tier ?? null };

/** Users and runners of jobs, each read once. */
async function peopleOf({ store }: Deps, jobs: readonly JobRecord[]) {
  const userIds = [...new Set(jobs.map(({ userId }) => userId))];
  const runnerIds = [...new Set(jobs.flatMap(({ runnerId }) => runnerId ?? []))];
  const [users, runners] = await Promise.all([
    store.users.getMany(userIds),
    runnerIds.length === 0 ? [] : store.runners.getMany(runnerIds),
  ]);
  return {
    user: (id: number): UserRecord | undefined => users[userIds.indexOf(id)],
    runner: (id: number | null): RunnerRecord | undefined =>
      id === null ? undefined : runners[runnerIds.indexOf(id)],
  };
}

/** @returns none when the pipeline is gone */
export async function pipelinePayloads(
  deps: Deps,
  facts: ProjectFacts,
  { pipelineId, sha, status }: EventOf<'pipeline'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const { store } = deps;
  const pipeline = await store.pipelines.get(project.id, sha, pipelineId);
  if (pipeline === undefined) return [];
  const [all, variables, commit, mergeRequest, source] = await Promise.all([
    store.jobs.all(pipelineId),
    store.jobs.variables(pipelineId),
    commitOf(deps, project, sha),
    mergeRequestPart(deps, facts, pipeline),
    sourcePart(deps, facts, pipeline),
  ]);
  const jobs = all.filter(({ retried }) => !retried);
  const { user: userOf, runner } = await peopleOf(deps, jobs);
  const stages = new Map(jobs.map(({ stage, stageIndex }) => [stageIndex, stage]));
  const body = {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid,
      ref: mergeRequest?.source_branch ?? pipeline.ref,
      tag: pipeline.tag === true,
      sha,
      before_sha: pipeline.beforeSha ?? ZERO_OID,
      source: pipeline.source,
      status,
      detailed_status: labelOf(status, jobs),
      stages: [...stages].toSorted(([a], [b]) => a - b).map(([, stage]) => stage),
      created_at: stamp(pipeline.createdAt),
      finished_at: hasEnded(status) ? stampOrNull(pipeline.finishedAt) : null,
      duration: pipeline.duration ?? null,
      queued_duration: secondsBetween(pipeline.createdAt, pipeline.startedAt),
      variables: variables.map(({ key, value }) => ({ key, value })),
      url: `${projectUrl(project, facts.baseUrl)}/-/pipelines/${pipeline.id}`,
    },
    merge_request: mergeRequest,
    user: userPart(user, facts),
    project: projectPart(project, facts),
    commit: commit === undefined ? null : commitPart(project, commit, facts),
    ...(source === undefined ? {} : { source_pipeline: source }),
    builds: jobs.toReversed().map((job) => ({
      id: job.id,
      stage: job.stage,
      name: job.name,
      status: job.status,
      created_at: stamp(job.createdAt),
      started_at: stampOrNull(job.startedAt),
      finished_at: stampOrNull(job.finishedAt),
      duration: secondsBetween(job.startedAt, job.finishedAt),
      queued_duration: secondsBetween(job.queuedAt, job.startedAt),
      failure_reason: job.failureReason,
      when: job.when,
      manual: job.when === 'manual',
      allow_failure: job.allowFailure,
      user: userPart(userOf(job.userId), facts),
      runner: runnerPart(runner(job.runnerId)),
      artifacts_file: artifactsFile(job),
      environment: environmentPart(job),
    })),
  };
  return [{ trigger: 'pipeline_events', event: 'Pipeline Hook', body, for: ['project', 'group'] }];
}

function artifactsFile(job: JobRecord) {
  const archive = archiveOf(job);
  return { filename: archive?.filename ?? null, size: archive?.size ?? null };
}

async function mergeRequestPart(
  { store }: Deps,
  { project, baseUrl }: ProjectFacts,
  { mergeRequest: address }: PipelineRecord,
) {
  const found = address && (await store.mergeRequests.get(address));
  if (found === undefined || found.projectId !== project.id) return null;
  return {
    id: found.id,
    iid: found.iid,
    title: found.title,
    source_branch: found.source.branch,
    source_project_id: found.source.projectId,
    target_branch: found.targetBranch,
    target_project_id: found.projectId,
    state: found.state,
    merge_status: statusOf(found),
    url: `${projectUrl(project, baseUrl)}/-/merge_requests/${found.iid}`,
  };
}

/** The pipeline with the job that started this one; undefined: none did, or its project is gone. */
async function sourcePart({ store }: Deps, { baseUrl }: ProjectFacts, { parent }: PipelineRecord) {
  const project = parent && (await store.projects.get(parent.projectId));
  if (parent === undefined || project === undefined) return undefined;
  const { id, fullPath } = project;
  return {
    project: { id, web_url: projectUrl(project, baseUrl), path_with_namespace: fullPath },
    job_id: parent.jobId,
    pipeline_id: parent.pipelineId,
  };
}

/** @returns none when the job is gone */
export async function jobPayloads(
  deps: Deps,
  facts: ProjectFacts,
  { pipelineId, sha, jobId, status }: EventOf<'job'>,
): Promise<Payload[]> {
  const { project } = facts;
  const { store } = deps;
  const [job, pipeline, commit] = await Promise.all([
    store.jobs.ofPipeline(pipelineId, jobId),
    store.pipelines.get(project.id, sha, pipelineId),
    commitOf(deps, project, sha),
  ]);
  if (job === undefined || pipeline === undefined || job.kind === 'bridge') return [];
  const { user, runner } = await peopleOf(deps, [job]);
  const body = {
    object_kind: 'build',
    ref: job.ref,
    tag: job.tag,
    before_sha: pipeline.beforeSha ?? ZERO_OID,
    sha,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: status,
    build_created_at: stamp(job.createdAt),
    build_started_at: stampOrNull(job.startedAt),
    build_finished_at: hasEnded(status) ? stampOrNull(job.finishedAt) : null,
    build_duration: secondsBetween(job.startedAt, job.finishedAt),
    build_queued_duration: secondsBetween(job.queuedAt, job.startedAt),
    build_allow_failure: job.allowFailure,
    build_failure_reason: job.failureReason ?? 'unknown_failure',
    pipeline_id: pipelineId,
    runner: runnerPart(runner(job.runnerId)),
    project_id: project.id,
    project_name: `${project.namespaceName} / ${project.name}`,
    user: userPart(user(job.userId), facts),
    commit: {
      id: pipelineId,
      sha,
      message: commit?.message.slice(0, 10_000) ?? null,
      author_name: commit?.author.name ?? null,
      author_email: commit?.author.email ?? null,
      author_url: commit === undefined ? null : `mailto:${commit.author.email}`,
      status: pipeline.status,
      duration: pipeline.duration ?? null,
      started_at: stampOrNull(pipeline.startedAt),
      finished_at: stampOrNull(pipeline.finishedAt),
    },
    repository: wholeRepository(facts),
    environment: environmentPart(job),
  };
  return [{ trigger: 'job_events', event: 'Job Hook', body, for: ['project', 'group'] }];
}
