/** Making pipelines: from a configuration and a commit to jobs that wait. */

import { ConfigError } from '../../ci/errors.ts';
import { NoPipeline, type Plan, type PlannedJob } from '../../ci/plan.ts';
import { expand, type Variables } from '../../ci/variables.ts';
import { ZERO_OID } from '../../git/oid.ts';
import { branchRef, parseRefName, type RefName, shortName, spaceOf, tagRef } from '../../git/refname.ts';
import type { CommitRecord } from '../../git/repository.ts';
import { Pace } from '../../git/work.ts';
import { snapshotOf } from '../../records/authors.ts';
import type {
  JobEnvironment,
  JobRecord,
  JobSpec,
  PipelineRecord,
  PipelineVariable,
} from '../../records/pipelines.ts';
import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  type OutboxMessage,
  outboxWrites,
} from '../../store/outbox/outbox.ts';
import { ADVANCE_PIPELINE_JOB, CHECK_PIPELINE_JOB } from '../../store/pipelines/pipelines.ts';
import { hookCall } from '../../telemetry/correlation.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { textsOf } from '../ci-variables/job-variables.ts';
import { type PipelineFacts, pipelineVariables, serverFacts } from '../ci-variables/predefined.ts';
import { variablesOf } from '../ci-variables/variables-of.ts';
import { pinCommit } from '../commits/pin.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { refProtection } from '../refs/protection.ts';
import { ciConfigPath } from '../repository/ci-config-path.ts';
import { codeOf } from '../repository/read.ts';
import { CacheKeys } from './cache-keys.ts';
import type { PipelineRequest, Place } from './request.ts';
import { tellerOf, toldOfPipeline } from './tell-hooks.ts';

/** After so long, and again as long as it goes on, jobs of a pipeline that nobody works on are ended. */
const CHECK_AFTER_MS = 3_600_000;

/** Bytes of the variables of a pipeline, which every one of its jobs gets. */
const MAX_VARIABLES = 1 << 20;
/** Characters of a name that is made of variables, for tags, groups and environments; the longest of these that may be is shorter. */
const MAX_NAME = 1024;

/** The last second of the year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** Makes a pipeline, or says why not. @throws 400 `{ base: [...] }` */
export async function createPipeline(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  request: PipelineRequest,
): Promise<PipelineRecord> {
  try {
    return await made(deps, actor, access, request);
  } catch (error) {
    if (error instanceof ConfigError) throw invalid({ base: error.messages });
    if (error instanceof NoPipeline) throw invalid({ base: [error.message] });
    throw error instanceof Missing ? notFound('Project') : error;
  }
}

/** Makes a pipeline that nobody waits for. @returns undefined where the configuration wants none, or there is none */
export async function createAutomatically(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  request: PipelineRequest,
): Promise<PipelineRecord | undefined> {
  try {
    return await made(deps, actor, access, { ...request, automatic: true });
  } catch (error) {
    if (error instanceof NoPipeline || error instanceof Missing) return undefined;
    throw error;
  }
}

async function made(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  asked: PipelineRequest,
): Promise<PipelineRecord> {
  const { user } = signedIn(actor);
  if (!can(actor, access, 'create_pipeline'))
    throw new NoPipeline('Insufficient permissions to create a new pipeline');
  if (!maySetVariables(actor, access, asked))
    throw new NoPipeline('Insufficient permissions to set pipeline variables');
  const request = { ...asked, variables: allVariables(asked) };
  if (bytesOf(request.variables) > MAX_VARIABLES) throw new NoPipeline('Variables are too long');
  const place = await placeOf(deps, actor, access, request);
  const { commit } = place;
  const facts: PipelineFacts = {
    project: access.project,
    commit,
    ref: request.mergeRequest?.sourceBranch ?? place.ref,
    isTag: place.isTag,
    protected: place.protected,
    source: request.source,
    beforeSha: request.beforeSha ?? ZERO_OID,
    user,
    server: serverFacts(deps, actor.origin?.baseUrl ?? deps.environment.baseUrl ?? ''),
    configPath: ciConfigPath(access.project),
    mergeRequest: request.mergeRequest,
  };
  const given = await givenVariables(deps, facts, request);
  let plan: Plan | undefined;
  let problems: readonly string[] = [];
  try {
    // Loaded on demand: of the functions that carry this, few requests make a pipeline.
    const { planOf } = await import('./plan-of.ts');
    plan = await planOf(deps, actor, access, { facts, place, given, request });
  } catch (error) {
    if (!(error instanceof ConfigError) || request.automatic !== true) throw error;
    problems = error.messages;
  }
  return stored(deps, access, { facts, place, given, plan, problems, request, user });
}

const allVariables = ({ variables = [], payload }: PipelineRequest): readonly PipelineVariable[] =>
  payload === undefined
    ? variables
    : [...variables, { key: 'TRIGGER_PAYLOAD', value: payload, type: 'file' }];

const bytesOf = (variables: readonly PipelineVariable[]): number =>
  variables.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);

/** Variables that the project itself has written down, as its configuration and its schedules have, need no right. */
function maySetVariables(
  actor: Actor,
  access: ProjectAccess,
  { source, variables = [] }: PipelineRequest,
): boolean {
  if (variables.length === 0 || source === 'parent_pipeline' || source === 'schedule') return true;
  const restricted = access.project.settings['restrict_user_defined_variables'] === true;
  return !restricted || can(actor, access, 'set_pipeline_variables');
}

/** @throws NoPipeline */
async function placeOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { ref, sha, mergeRequest }: PipelineRequest,
): Promise<Place> {
  const git = codeOf(deps, access);
  const full = ref.startsWith('refs/') ? parseRefName(ref) : undefined;
  const names = full === undefined ? [branchRef(ref), tagRef(ref)] : [full];
  const known = names.filter((name): name is RefName => name !== undefined);
  const [found, protection] = await Promise.all([git.refs(known), refProtection(deps, access, actor)]);
  const [first, second] = found;
  if (first === undefined) throw new NoPipeline('Reference not found');
  if (second !== undefined) throw new NoPipeline('Ref is ambiguous');
  const resolved = await git.resolve(sha ?? first.oid);
  if (resolved === undefined) throw new NoPipeline('Commit not found');
  const space = spaceOf(first.name);
  const name = space === undefined ? first.name : shortName(first.name);
  const isTag = space === 'tags';
  // A merge request has the rights of its source branch only.
  const isProtected =
    mergeRequest === undefined &&
    (isTag ? protection.tags.isProtected(name) : space === 'heads' && protection.branches.isProtected(name));
  const may = isTag
    ? protection.tags.mayCreate(actor, name)
    : space !== 'heads' || protection.branches.mayUpdate(actor, name);
  if (isProtected && !may) throw new NoPipeline(`Insufficient permissions for protected ref '${name}'`);
  return { git, commit: await git.commit(resolved.commit), ref: name, isTag, protected: isProtected };
}

/** All variables that do not come from the configuration, those that count more behind the others. */
async function givenVariables(
  deps: Deps,
  facts: PipelineFacts,
  { variables = [], inherited = {} }: PipelineRequest,
): Promise<Variables> {
  const configured = await variablesOf(deps, facts.project, { protected: facts.protected });
  return new Map([
    ...textsOf(pipelineVariables(facts)),
    ...Object.entries(inherited),
    ...textsOf(configured),
    ...variables.map(({ key, value }) => [key, value] as const),
  ]);
}

interface Storing {
  readonly facts: PipelineFacts;
  readonly place: Place;
  readonly given: Variables;
  /** Undefined: it has no jobs. */
  readonly plan: Plan | undefined;
  readonly problems: readonly string[];
  readonly request: PipelineRequest;
  readonly user: UserRecord;
}

async function stored(deps: Deps, access: ProjectAccess, storing: Storing): Promise<PipelineRecord> {
  const { facts, place, plan, problems, request, user } = storing;
  const { pipelines, jobs } = deps.store;
  const { project } = access;
  const at = deps.now().toISOString();
  const status = problems.length > 0 ? 'failed' : plan === undefined ? 'skipped' : 'created';
  const pipeline: PipelineRecord = {
    ...(await pipelines.nextPipeline(project.id)),
    projectId: project.id,
    sha: place.commit.oid,
    ref: place.ref,
    ...(place.isTag ? { tag: true } : {}),
    source: request.source,
    status,
    states: {},
    statuses: 0,
    ...(plan === undefined ? {} : { jobStatus: 'created' as const }),
    ...(status === 'failed' ? { outcome: 'failed' as const } : {}),
    author: snapshotOf(user),
    createdAt: at,
    updatedAt: at,
    startedAt: null,
    finishedAt: status === 'created' ? null : at,
    version: 1,
    beforeSha: facts.beforeSha,
    committedAt: committedAt(place.commit),
    ...(problems.length > 0 ? { yamlErrors: problems.join('\n') } : {}),
    ...(place.protected ? { protected: true } : {}),
    ...(request.mergeRequest === undefined
      ? {}
      : {
          mergeRequest: {
            projectId: (request.mergeRequest.project ?? project).id,
            iid: request.mergeRequest.iid,
          },
        }),
    ...(request.parent === undefined ? {} : { parent: request.parent }),
    baseUrl: facts.server.baseUrl,
    ...(request.madeBy === undefined ? {} : { madeBy: request.madeBy }),
  };
  const created = plan === undefined ? [] : await newJobs(deps, pipeline, storing, plan);
  if (created.length > 0 || (request.variables ?? []).length > 0) {
    await pipelines.announce(pipeline);
    await jobs.prepare({ projectId: project.id, pipelineId: pipeline.id }, created, request.variables ?? []);
  }
  const body = { projectId: project.id, pipelineId: pipeline.id };
  const messages: OutboxMessage[] = [
    ...(created.length > 0 ? [message(MAINTENANCE, ADVANCE_PIPELINE_JOB, body)] : []),
    ...(status === 'created' ? [] : await toldOfPipeline(deps, project, pipeline, tellerOf(deps, pipeline))),
  ];
  const later = messageAt(
    MAINTENANCE,
    CHECK_PIPELINE_JOB,
    body,
    new Date(deps.now().getTime() + CHECK_AFTER_MS),
  );
  const outbox = outboxWrites([...messages, ...(created.length > 0 ? [later] : [])]);
  await pinCommit(deps, project, place.commit.oid, (pins) =>
    pipelines.create(pipeline, [...pins, ...outbox]),
  );
  await deps.store.outbox.deliver(messages);
  return pipeline;
}

/** A commit may claim any time. */
const committedAt = ({ committer }: CommitRecord): string =>
  new Date(Math.min(Math.max(0, committer.seconds), MAX_SECONDS) * 1000).toISOString();

async function newJobs(
  deps: Deps,
  pipeline: PipelineRecord,
  { given, user, place }: Storing,
  { jobs }: Plan,
): Promise<NewJob[]> {
  const first = await deps.store.jobs.reserveIds(jobs.length);
  const keys = new CacheKeys(place.git, place.commit.oid);
  const made: NewJob[] = [];
  const pace = new Pace();
  for (const [i, planned] of jobs.entries()) {
    if (pace.due()) await pace.rest();
    const { cache } = planned;
    made.push({
      job: jobOf(planned, first + i, pipeline, given, user.id),
      spec: specOf(planned, cache && (await keys.of(cache)), variablesAt(planned, given)),
    });
  }
  return made;
}

/** What a job's names may be made of. */
const variablesAt = (planned: PlannedJob, given: Variables): Variables =>
  new Map([
    ...Object.entries(planned.variables),
    ...given,
    ['CI_JOB_NAME', planned.name],
    ['CI_JOB_STAGE', planned.stage],
  ]);

function jobOf(
  planned: PlannedJob,
  id: number,
  pipeline: PipelineRecord,
  given: Variables,
  userId: number,
): JobRecord {
  const { name, stage, stageIndex, when, allowFailure, needs, retry, environment } = planned;
  const variables = variablesAt(planned, given);
  const call = hookCall();
  const named = (text: string) => expand(text, variables).slice(0, MAX_NAME);
  return {
    id,
    projectId: pipeline.projectId,
    pipelineId: pipeline.id,
    kind: planned.script === undefined ? 'bridge' : 'build',
    name,
    stage,
    stageIndex,
    status: 'created',
    when,
    allowFailure,
    ...(needs === undefined ? {} : { needs: needs.map(({ job }) => job) }),
    tags: (planned.tags ?? []).map(named),
    ref: pipeline.ref,
    sha: pipeline.sha,
    tag: pipeline.tag === true,
    protected: pipeline.protected === true,
    userId,
    ...(call === undefined ? {} : { hookCall: call }),
    createdAt: pipeline.createdAt,
    updatedAt: pipeline.createdAt,
    queuedAt: null,
    startedAt: null,
    finishedAt: null,
    scheduledAt: null,
    ...(planned.startIn === undefined ? {} : { startIn: planned.startIn }),
    ...(planned.timeout === undefined ? {} : { timeout: planned.timeout }),
    interruptible: planned.interruptible === true,
    ...(retry === undefined ? {} : { retry }),
    attempt: 0,
    retried: false,
    ...(planned.allowedExitCodes === undefined ? {} : { allowedExitCodes: planned.allowedExitCodes }),
    failureReason: null,
    coverage: null,
    ...(environment === undefined ? {} : { environment: environmentOf(environment, named) }),
    ...(planned.resourceGroup === undefined ? {} : { resourceGroup: named(planned.resourceGroup) }),
    runnerId: null,
    artifacts: [],
    artifactsExpireAt: null,
    erasedAt: null,
    erasedById: null,
    scopes: [],
    version: 1,
  };
}

function environmentOf(
  { name, url, action, on_stop, auto_stop_in, deployment_tier }: NonNullable<PlannedJob['environment']>,
  named: (text: string) => string,
): JobEnvironment {
  return {
    name: named(name),
    ...(url === undefined ? {} : { url }),
    action,
    ...(on_stop === undefined ? {} : { onStop: on_stop }),
    ...(auto_stop_in === undefined ? {} : { autoStopIn: auto_stop_in }),
    ...(deployment_tier === undefined ? {} : { tier: deployment_tier }),
  };
}

function specOf(planned: PlannedJob, cache: readonly object[] | undefined, known: Variables): JobSpec {
  const { script = [], beforeScript, afterScript, image, services, artifacts, dependencies } = planned;
  const { needs, upstream, variables, release, trigger, coverage, passedOn } = planned;
  const crossNeeds = planned.crossNeeds.map((need) =>
    Object.fromEntries(
      Object.entries(need).map(([key, value]) => [
        key,
        typeof value === 'string' ? expand(value, known) : value,
      ]),
    ),
  );
  const given = {
    ...{ script, beforeScript, afterScript, image, services, cache, artifacts, dependencies },
    ...{ needs, crossNeeds, variables, release, trigger, coverage, passedOn },
    upstream: upstream && expand(upstream, known),
  };
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as unknown as JobSpec;
}
