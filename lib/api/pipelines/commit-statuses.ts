import {
  type CommitStatus,
  listCommitStatuses,
  reportStatus,
} from '../../domain/pipelines/commit-statuses.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { commitSha } from '../commits/params.ts';
import * as shapes from '../commits/shapes.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { author, userBasic } from '../users/present.ts';

const area = 'commits';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  area,
  summary: 'List the statuses of a commit',
  description: 'Jobs, and the latest status of each name that was reported, of each pipeline, sorted by ID.',
  access: project('read_pipelines'),
  params: commitSha,
  query: () =>
    p.params({
      ref: p.string({ description: 'Return only statuses of this branch or tag' }),
      stage: p.string({
        description: 'Return only statuses of this stage; those that were reported have the stage `external`',
      }),
      name: p.string({ description: 'Return only statuses of this name' }),
      all: p.boolean({
        default: false,
        description:
          'Return all statuses, including those that later ones replaced, and jobs that were repeated',
      }),
    }),
  returns: { body: shapes.commitStatuses },
  ...BY_ROWS,
  errors: [{ status: 404, description: 'Commit not found' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ project, params, query, page, request }, deps) => {
    const filters = {
      all: query.all,
      ref: query.ref || undefined,
      stage: query.stage || undefined,
      name: query.name || undefined,
    };
    const { items, ...rest } = await listCommitStatuses(deps, project, params.sha, filters, counted(page));
    return { ...rest, items: items.map((status) => present(status, project.project, request.baseUrl)) };
  },
});

const report = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  area,
  summary: 'Set the status of a commit',
  description:
    'Updates the unfinished status of this name that the caller reported; otherwise adds a status to a pipeline of the commit.',
  access: project('report_statuses'),
  params: commitSha,
  body: () =>
    p.params({
      state: p.oneOf(['pending', 'running', 'success', 'failed', 'canceled'], {
        required: true,
        description: 'State of the status',
      }),
      ref: p.string({ description: 'Branch or tag that the status refers to' }),
      name: p.string({ description: 'Name that distinguishes this status from others. Default: `default`' }),
      context: p.string({ description: 'Alias of `name`; `name` takes precedence' }),
      target_url: p.string({ description: 'URL of a page with details of the status' }),
      description: p.string({ description: 'Short description of the status' }),
      coverage: p.number({ description: 'Test coverage, in percent' }),
      pipeline_id: p.integer({
        description: 'ID of the pipeline to add the status to, if the commit has several',
      }),
    }),
  returns: { body: shapes.commitStatus },
  errors: [
    {
      status: 400,
      description: 'A value is invalid, or the transition from the current state is not allowed',
    },
    { status: 403, description: 'Not allowed to set statuses, or to push to the protected branch' },
    { status: 404, description: 'Commit or pipeline not found, or no branch contains the commit' },
    { status: 409, description: 'Too many concurrent requests for this commit' },
    { status: 422, description: 'The pipeline has the maximum number of statuses' },
  ],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, body, request }, deps) => {
    const status = await reportStatus(deps, actor, project, params.sha, {
      state: body.state,
      name: body.name ?? body.context ?? 'default',
      ref: body.ref,
      pipelineId: body.pipeline_id,
      targetUrl: body.target_url || undefined,
      description: body.description || undefined,
      coverage: body.coverage,
    });
    return present(status, project.project, request.baseUrl);
  },
});

export const statusEndpoints = [list, report];

function present(shown: CommitStatus, project: ProjectRecord, baseUrl: string) {
  if (shown.kind === 'job') {
    const { job, author: account } = shown;
    return {
      id: job.id,
      sha: job.sha,
      ref: job.ref,
      status: job.status,
      name: job.name,
      target_url: `${projectUrl(project, baseUrl)}/-/jobs/${job.id}`,
      description: null,
      created_at: job.createdAt,
      started_at: job.startedAt,
      finished_at: job.finishedAt,
      allow_failure: job.allowFailure,
      coverage: job.coverage,
      author: account === undefined ? null : userBasic(account, baseUrl),
    };
  }
  const { status, author: account } = shown;
  return {
    id: status.id,
    sha: status.sha,
    ref: status.ref,
    status: status.state,
    name: status.name,
    target_url: status.targetUrl,
    description: status.description,
    created_at: status.createdAt,
    started_at: status.startedAt,
    finished_at: status.finishedAt,
    allow_failure: false,
    coverage: status.coverage,
    author: author(account, status.author, baseUrl),
  };
}
