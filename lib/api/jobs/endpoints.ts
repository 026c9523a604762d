import { notFound } from '../../domain/errors.ts';
import { getJob } from '../../domain/jobs/find.ts';
import * as jobs from '../../domain/pipelines/single-jobs.ts';
import { anyone, project } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { json, reply } from '../../http/reply.ts';
import { CI_STATUSES } from '../../records/pipelines.ts';
import { endpoint, firstOf, idOfToken, nextIdOf } from '../endpoint.ts';
import { presentedBridges, presentedJob, presentedJobs } from '../pipelines/present.ts';
import * as shapes from '../pipelines/shapes.ts';

const area = 'jobs';
const path = '/projects/:id/jobs';
const readers = project('read_pipelines', { anonymous: true });
const writers = project('update_pipeline');
const absent = { status: 404, description: 'The project has no such job' };
const changed = { status: 409, description: 'It was changed by other requests at the same time' };
const forbidden = { status: 403, description: 'Not allowed, or not to push to the protected branch or tag' };
const jobId = () => p.params({ job_id: p.integer({ required: true, description: 'ID of the job' }) });
const pipelineId = () =>
  p.params({ pipeline_id: p.integer({ required: true, description: 'ID of the pipeline' }) });

const scope = () =>
  p.array(p.oneOf(CI_STATUSES), {
    comma: true,
    description: 'Return only jobs in one of these statuses',
  });

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the jobs of a project',
  access: readers,
  query: () => p.params({ scope: scope() }),
  returns: { body: shapes.jobs },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token' },
  noun: 'Job',
  errors: [{ status: 405, description: `The offset is above ${MAX_OFFSET}` }],
  handle: async ({ project, query, page, request }, deps) => {
    const found =
      page.kind === 'offset'
        ? await jobs.listJobs(deps, project, query.scope, page)
        : await jobs.listJobs(deps, project, query.scope, firstOf(page), idOfToken(page.after));
    return {
      ...found,
      items: await presentedJobs(deps, project, found.items, request.baseUrl),
      next: nextIdOf(found),
    };
  },
});

const ofPipeline = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/jobs',
  area: 'pipelines',
  summary: 'List the jobs of a pipeline',
  access: readers,
  params: pipelineId,
  query: () =>
    p.params({
      scope: scope(),
      include_retried: p.boolean({ default: false, description: 'Return also jobs that were repeated' }),
    }),
  returns: { body: shapes.jobs },
  paginate: 'offset',
  errors: [{ status: 404, description: 'The project has no such pipeline' }],
  handle: async ({ project, params, query, page, request }, deps) => {
    const query_ = { kind: 'build', scope: query.scope, includeRetried: query.include_retried } as const;
    const found = await jobs.jobsOfPipeline(deps, project, params.pipeline_id, query_, page);
    return { ...found, items: await presentedJobs(deps, project, found.items, request.baseUrl) };
  },
});

const bridges = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/bridges',
  area: 'pipelines',
  summary: 'List the jobs of a pipeline that start other pipelines',
  access: readers,
  params: pipelineId,
  query: () => p.params({ scope: scope() }),
  returns: { body: shapes.bridges },
  paginate: 'offset',
  errors: [{ status: 404, description: 'The project has no such pipeline' }],
  handle: async ({ actor, project, params, query, page, request }, deps) => {
    const wanted = { kind: 'bridge', scope: query.scope, includeRetried: false } as const;
    const found = await jobs.jobsOfPipeline(deps, project, params.pipeline_id, wanted, page);
    return { ...found, items: await presentedBridges(deps, actor, project, found.items, request.baseUrl) };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:job_id`,
  area,
  summary: 'Get a job',
  access: readers,
  params: jobId,
  returns: { body: shapes.job },
  errors: [absent],
  handle: async ({ project, params, request }, deps) =>
    presentedJob(deps, project, await getJob(deps, project, params.job_id), request.baseUrl),
});

const current = endpoint({
  method: 'GET',
  path: '/job',
  area,
  summary: 'Get the job whose token is shown',
  access: anyone(),
  jobTokens: true,
  query: () => p.params({ job_token: p.string({ description: 'Token of a running job' }) }),
  returns: { body: shapes.job },
  errors: [{ status: 404, description: 'The credential is not the token of a job' }],
  handle: async ({ actor, request }, deps) => {
    const job = actor.kind === 'user' ? actor.job : undefined;
    const project = job && (await deps.store.projects.get(job.projectId));
    if (job === undefined || project === undefined || project.deletedAt !== null) throw notFound('Job');
    return presentedJob(deps, { project, level: 0 }, job, request.baseUrl);
  },
});

const trace = endpoint({
  method: 'GET',
  path: `${path}/:job_id/trace`,
  area,
  summary: 'Get the trace of a job',
  description: 'What the job has printed so far.',
  access: readers,
  params: jobId,
  returns: { type: 'text/plain' },
  errors: [absent],
  handle: async ({ project, params }, deps) => {
    const job = await getJob(deps, project, params.job_id);
    return reply({
      body: deps.store.jobTraces.read(job),
      type: 'text/plain; charset=utf-8',
      headers: {
        'Content-Disposition': `infile; filename="${job.id}.log"`,
        // It grows, and is what others wrote.
        'Cache-Control': 'private, no-store',
        'X-Content-Type-Options': 'nosniff',
      },
    });
  },
});

const cancel = endpoint({
  method: 'POST',
  path: `${path}/:job_id/cancel`,
  area,
  summary: 'Cancel a job',
  access: writers,
  params: jobId,
  returns: { body: shapes.job },
  errors: [forbidden, absent, changed],
  handle: async ({ actor, project, params, request }, deps) =>
    presentedJob(deps, project, await jobs.cancelJob(deps, actor, project, params.job_id), request.baseUrl),
});

const retry = endpoint({
  method: 'POST',
  path: `${path}/:job_id/retry`,
  area,
  summary: 'Start a job again',
  access: writers,
  params: jobId,
  returns: { body: shapes.job },
  errors: [
    { status: 403, description: 'Not allowed, or the job has not ended or was repeated before' },
    absent,
    changed,
  ],
  handle: async ({ actor, project, params, request }, deps) =>
    presentedJob(deps, project, await jobs.retryJob(deps, actor, project, params.job_id), request.baseUrl),
});

const erase = endpoint({
  method: 'POST',
  path: `${path}/:job_id/erase`,
  area,
  summary: 'Delete the artifacts of a job',
  access: writers,
  params: jobId,
  returns: { body: shapes.job },
  errors: [
    { status: 403, description: 'Not allowed, or the job has not ended or was erased before' },
    absent,
    changed,
  ],
  handle: async ({ actor, project, params, request }, deps) =>
    presentedJob(deps, project, await jobs.eraseJob(deps, actor, project, params.job_id), request.baseUrl),
});

const play = endpoint({
  method: 'POST',
  path: `${path}/:job_id/play`,
  area,
  summary: 'Start a manual job',
  description:
    'Requires the Developer role; for a job that deploys to a protected environment also Reporter, if a rule of that environment names the caller.',
  access: project('play_job'),
  params: jobId,
  returns: { status: 200, body: shapes.job },
  errors: [{ status: 400, description: 'The job does not wait for that' }, forbidden, absent, changed],
  handle: async ({ actor, project, params, request }, deps) => {
    const played = await jobs.playJob(deps, actor, project, params.job_id);
    return json(await presentedJob(deps, project, played, request.baseUrl));
  },
});

export const pipelineJobEndpoints = [ofPipeline, bridges];
export const jobEndpoints = [current, list, get, trace, cancel, retry, erase, play];
