/** What a runner gets to know of a job that it has taken. */
import { ZERO_OID } from '../../git/oid.ts';
import { archiveOf } from '../../records/artifacts.ts';
import type { JobRecord, JobSpec, PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { RunnerRecord } from '../../records/runners.ts';
import { crossDependencies } from '../artifacts/cross-needs.ts';
import { inheritedVariables } from '../artifacts/dotenv.ts';
import type { JobVariable } from '../ci-variables/job-variables.ts';
import { repositoryUrl, serverFacts } from '../ci-variables/predefined.ts';
import type { Deps } from '../deps.ts';
import { variablesOfJob } from '../pipelines/job-variables.ts';
import { isOutdated } from './outdated.ts';
import { failTaken, type TakenJob } from './take.ts';

const DEFAULT_DEPTH = 50;

export interface JobPayload {
  readonly project: ProjectRecord;
  readonly pipeline: PipelineRecord | undefined;
  readonly job: JobRecord;
  readonly spec: JobSpec;
  readonly token: string;
  readonly variables: readonly JobVariable[];
  readonly repositoryUrl: string;
  readonly beforeSha: string;
  readonly depth: number;
  /** Seconds. */
  readonly timeout: number;
  /** Jobs whose artifacts it fetches. */
  readonly dependencies: readonly JobRecord[];
}

const NO_SPEC: JobSpec = { script: [], crossNeeds: [], variables: {} };

/**
 * @returns undefined where the project is gone meanwhile; and where what the job needs of others is not there, or its environment
 * has something newer: then it fails
 */
export async function payloadOf(
  deps: Deps,
  { job, project, timeout, token, runner, baseUrl }: TakenJob & { runner: RunnerRecord; baseUrl: string },
): Promise<JobPayload | undefined> {
  const { store } = deps;
  const { projectId, pipelineId } = job;
  const [pipeline, spec = NO_SPEC, all] = await Promise.all([
    store.pipelines.byId(projectId, pipelineId),
    store.jobs.spec(job),
    store.jobs.all(pipelineId),
  ]);
  if (project === undefined || project.deletedAt !== null) return undefined;
  const [outdated, others] = await Promise.all([
    isOutdated(deps, project, job),
    spec.crossNeeds.length === 0 ? [] : crossDependencies(deps, job, spec),
  ]);
  if (outdated || others === undefined) {
    await failTaken(deps, job, outdated ? 'forward_deployment_failure' : 'missing_dependency_failure');
    return undefined;
  }
  const before = [...dependenciesOf(job, spec, all), ...others];
  const inherited = await inheritedVariables(deps, before);
  const variables = await variablesOfJob(deps, {
    ...{ project, pipeline, job, spec, baseUrl },
    ...{ runner, token, inherited },
  });
  return {
    project,
    pipeline,
    job,
    spec,
    token,
    variables,
    repositoryUrl: repositoryUrl({ server: serverFacts(deps, baseUrl), project, token }),
    beforeSha: pipeline?.beforeSha ?? ZERO_OID,
    depth: (project.settings['ci_default_git_depth'] as number | undefined) ?? DEFAULT_DEPTH,
    timeout,
    dependencies: before.filter((other) => archiveOf(other) !== undefined),
  };
}

/** Jobs of the same pipeline whose files a job gets, in the order of ids. */
function dependenciesOf(job: JobRecord, spec: JobSpec, all: readonly JobRecord[]): JobRecord[] {
  const { needs, dependencies } = spec;
  const needed = needs?.filter(({ artifacts }) => artifacts).map((need) => need.job);
  const wanted = (other: JobRecord) =>
    (needed === undefined ? other.stageIndex < job.stageIndex : needed.includes(other.name)) &&
    (dependencies?.includes(other.name) ?? true);
  return all.filter((other) => !other.retried && other.artifacts.length > 0 && wanted(other));
}
