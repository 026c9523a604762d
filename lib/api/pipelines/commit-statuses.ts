import {
  type CommitStatus,
  listCommitStatuses,
  reportStatus,
} from '../../domain/pipelines/commit-statuses.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import * as shapes from '../commits/shapes.ts';
import { counted, endpoint } from '../endpoint.ts';
import { author } from '../users/present.ts';

const area = 'commits';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  area,
  summary: 'List the statuses of a commit',
  description: 'The last of each name in a pipeline, in order of their ids.',
  access: project('read_pipelines'),
  query: () =>
    p.params({
      ref: p.string({ description: 'Only of this branch or tag' }),
      stage: p.string({ description: 'Only of this stage; reported ones are of `external`' }),
      name: p.string({ description: 'Only of this name' }),
      all: p.boolean({ default: false, description: 'Those that later ones replaced too' }),
    }),
  returns: { body: shapes.commitStatuses },
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such commit' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ project, params, query, page, request }, deps) => {
    const filters = {
      all: query.all,
      ref: query.ref || undefined,
      stage: query.stage || undefined,
      name: query.name || undefined,
    };
    const { items, ...rest } = await listCommitStatuses(deps, project, params.sha, filters, counted(page));
    return { ...rest, items: items.map((status) => present(status, request.baseUrl)) };
  },
});

const report = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  area,
  summary: 'Report the status of a commit',
  description:
    'Changes the status of that name which the caller reported and which has not ended; else adds one, in a pipeline of the commit.',
  access: project('report_statuses'),
  body: () =>
    p.params({
      state: p.oneOf(['pending', 'running', 'success', 'failed', 'canceled'], { required: true }),
      ref: p.string({ description: 'Branch or tag that was built' }),
      name: p.string({ description: 'Tells statuses apart; `default` when absent' }),
      context: p.string({ description: 'The same as `name`, which goes before' }),
      target_url: p.string({ description: 'Where there is more to see' }),
      description: p.string({ description: 'In a few words' }),
      coverage: p.number({ description: 'Percent of the code that tests ran' }),
      pipeline_id: p.integer({ description: 'A pipeline of the commit, where there are several' }),
    }),
  returns: { body: shapes.commitStatus },
  errors: [
    { status: 400, description: 'A value is not sound, or the state cannot follow the present one' },
    { status: 403, description: 'No right to report, or to change a protected branch' },
    { status: 404, description: 'No such commit or pipeline, or no branch has the commit' },
    { status: 409, description: 'Others report on this commit all the time' },
    { status: 422, description: 'The pipeline has too many statuses' },
  ],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, body, request }, deps) => {
    const made = await reportStatus(deps, actor, project, params.sha, {
      state: body.state,
      name: body.name ?? body.context ?? 'default',
      ref: body.ref,
      pipelineId: body.pipeline_id,
      targetUrl: body.target_url || undefined,
      description: body.description || undefined,
      coverage: body.coverage,
    });
    return present(made, request.baseUrl);
  },
});

export const statusEndpoints = [list, report];

function present({ status, author: account }: CommitStatus, baseUrl: string) {
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
