/** The variables that a job gets. */

import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { JobRecord, JobSpec, PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { given, type JobVariable, jobVariables, saidAll } from '../ci-variables/job-variables.ts';
import {
  type EnvironmentFacts,
  numberedVariables,
  ownVariables,
  pipelineVariables,
  type RunnerFacts,
  serverFacts,
} from '../ci-variables/predefined.ts';
import { variablesOf } from '../ci-variables/variables-of.ts';
import type { Deps } from '../deps.ts';
import { slugOf, tierOf } from '../environments/environments.ts';
import { ciConfigPath } from '../repository/ci-config-path.ts';
import { codeOf } from '../repository/read.ts';
import { factsOfPipeline } from './merge-request-facts.ts';

export interface JobOfPipeline {
  readonly project: ProjectRecord;
  /** Undefined: it is being deleted. */
  readonly pipeline: PipelineRecord | undefined;
  readonly job: JobRecord;
  readonly spec: JobSpec;
  readonly baseUrl: string;
  /** The runner that takes it, and the token that the job has then. */
  readonly runner?: RunnerFacts;
  readonly token?: string;
  /** Variables that the jobs on which it depends have left. */
  readonly inherited?: Readonly<Record<string, string>>;
}

/** All variables of a job, each once. */
export async function variablesOfJob(
  deps: Deps,
  { project, pipeline, job, spec, baseUrl, runner, token = '', inherited = {} }: JobOfPipeline,
): Promise<JobVariable[]> {
  const { store } = deps;
  const git = codeOf(deps, { project, level: 0 });
  const [commit, configured, user, variables, environment, mergeRequest] = await Promise.all([
    git.commit(job.sha as Oid),
    variablesOf(deps, project, { protected: job.protected, environment: job.environment?.name }),
    store.users.get(job.userId),
    store.jobs.variables(job.pipelineId),
    environmentFacts(deps, job),
    factsOfPipeline(deps, project, pipeline),
  ]);
  const server = serverFacts(deps, baseUrl);
  const image = spec.image?.name;
  const predefined = [
    ...pipelineVariables({
      server,
      project,
      commit,
      ref: mergeRequest?.sourceBranch ?? job.ref,
      isTag: job.tag,
      protected: job.protected,
      source: pipeline?.source ?? 'push',
      beforeSha: pipeline?.beforeSha ?? ZERO_OID,
      user: user ?? { id: job.userId, username: '', name: '', email: '' },
      configPath: ciConfigPath(project),
      mergeRequest,
    }),
    ...(pipeline === undefined
      ? []
      : numberedVariables({
          server,
          project,
          id: pipeline.id,
          iid: pipeline.iid,
          createdAt: pipeline.createdAt,
          triggered: pipeline.source === 'trigger',
        })),
    ...ownVariables({
      server,
      project,
      id: job.id,
      name: job.name,
      stage: job.stage,
      startedAt: job.startedAt,
      manual: job.when === 'manual',
      token,
      ...(image === undefined ? {} : { image }),
      ...(environment === undefined ? {} : { environment }),
      ...(runner === undefined ? {} : { runner }),
    }),
  ];
  return jobVariables({
    predefined,
    job: saidAll(spec.variables),
    inherited: saidAll(inherited),
    configured,
    given: variables.map(given),
  });
}

/** Of the environment as it is, else as it would be made. */
async function environmentFacts(
  { store }: Deps,
  { projectId, environment }: JobRecord,
): Promise<EnvironmentFacts | undefined> {
  if (environment === undefined) return undefined;
  const { name, action, tier, url } = environment;
  const known = await store.environments.named(projectId, name);
  return {
    name,
    slug: known?.slug ?? slugOf(name),
    action,
    tier: tier ?? known?.tier ?? tierOf(name),
    url: url ?? known?.externalUrl ?? undefined,
  };
}
