import { createPipeline } from '../../domain/pipelines/create.ts';
import * as pipelines from '../../domain/pipelines/pipelines.ts';
import { project } from '../../http/access.ts';
import { keysetUnavailable, MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { CI_STATUSES, PIPELINE_SOURCES } from '../../records/pipelines.ts';
import { pipelineBasic } from '../commits/present.ts';
import { counted, endpoint, firstOf, idOfToken, nextIdOf } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { pipelineDetail } from './present.ts';
import * as shapes from './shapes.ts';
import { presentSummary, presentTestReport } from './test-reports.ts';

const area = 'pipelines';
const path = '/projects/:id/pipelines';
const readers = project('read_pipelines', { anonymous: true });
const absent = { status: 404, description: 'The project has no such pipeline' };
const forbidden = { status: 403, description: 'Not allowed, or not to push to the protected branch or tag' };
const changed = { status: 409, description: 'It was changed by other requests at the same time' };
const pipelineId = () =>
  p.params({ pipeline_id: p.integer({ required: true, description: 'ID of the pipeline' }) });

const ORDERS = { id: 'ID', status: 'STATUS', ref: 'NAME', updated_at: 'UPDATED', user_id: 'USER' } as const;

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the pipelines of a project',
  access: readers,
  query: () =>
    p.params({
      scope: p.oneOf(pipelines.PIPELINE_SCOPES, {
        description: 'Return only pipelines of this kind; of branches and tags the newest of each',
      }),
      status: p.oneOf(CI_STATUSES, { description: 'Return only pipelines in this status' }),
      ref: p.string({ description: 'Return only pipelines of this branch or tag' }),
      sha: p.string({ description: 'Return only pipelines of this commit' }),
      yaml_errors: p.boolean({
        description: 'Return only pipelines whose configuration is wrong, or is not',
      }),
      username: p.string({ description: 'Return only pipelines that this user made' }),
      name: p.string({ description: 'Return only pipelines that a user of this name made' }),
      source: p.oneOf(PIPELINE_SOURCES, { description: 'Return only pipelines that came about so' }),
      updated_after: p.datetime({ description: 'Return only pipelines changed since then' }),
      updated_before: p.datetime({ description: 'Return only pipelines changed until then' }),
      order_by: p.oneOf(['id', 'status', 'ref', 'updated_at', 'user_id'], {
        default: 'id',
        description: 'Order of the list',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Direction of the order' }),
    }),
  returns: { body: shapes.pipelines },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token', orderBy: ['id'] },
  noun: 'Pipeline',
  errors: [
    {
      status: 405,
      description: `The offset is above ${MAX_OFFSET}, or keyset pagination does not support the order or scope`,
    },
  ],
  handle: async ({ project, query, page, request }, deps) => {
    // Which is the newest of each, only all before it tell.
    const ofRefs = query.scope === 'branches' || query.scope === 'tags';
    if (page.kind === 'keyset' && ofRefs) throw keysetUnavailable();
    const found = await pipelines.listPipelines(deps, project, {
      ...(page.kind === 'offset' ? counted(page) : { ...firstOf(page), past: idOfToken(page.after) }),
      scope: query.scope,
      status: query.status,
      ref: query.ref || undefined,
      sha: query.sha || undefined,
      yamlErrors: query.yaml_errors,
      username: query.username || undefined,
      name: query.name || undefined,
      source: query.source,
      updatedAfter: query.updated_after,
      updatedBefore: query.updated_before,
      order: ORDERS[query.order_by],
      direction: query.sort,
    });
    const url = projectUrl(project.project, request.baseUrl);
    const items = found.items.map((each) => pipelineBasic(each, url));
    return { ...found, items, next: ofRefs ? undefined : nextIdOf(found) };
  },
});

const latest = endpoint({
  method: 'GET',
  path: `${path}/latest`,
  area,
  summary: 'Get the newest pipeline of the commit that a branch or tag points to',
  access: readers,
  query: () => p.params({ ref: p.string({ description: 'Branch or tag. Default: the default branch' }) }),
  returns: { body: shapes.pipelineDetail },
  errors: [absent],
  handle: async ({ project, query, request }, deps) => {
    const found = await pipelines.latestPipeline(deps, project, query.ref || undefined);
    return pipelineDetail(deps, project, found, request.baseUrl);
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id`,
  area,
  summary: 'Get a pipeline',
  access: readers,
  params: pipelineId,
  returns: { body: shapes.pipelineDetail },
  errors: [absent],
  handle: async ({ project, params, request }, deps) =>
    pipelineDetail(
      deps,
      project,
      await pipelines.getPipeline(deps, project, params.pipeline_id),
      request.baseUrl,
    ),
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/pipeline',
  area,
  summary: 'Create a pipeline for a branch or tag',
  access: project('create_pipeline'),
  body: () =>
    p.params({
      ref: p.string({ required: true, description: 'Branch or tag' }),
      variables: p.array(
        p.object({
          key: p.string({ required: true, description: 'Name of the variable' }),
          value: p.string({ required: true, description: 'Its value' }),
          variable_type: p.oneOf(['env_var', 'file'], {
            default: 'env_var',
            description: 'Whether jobs get the value, or the name of a file with it',
          }),
        }),
        { maxItems: 200, description: 'Variables of the pipeline' },
      ),
    }),
  returns: { body: shapes.pipelineDetail },
  errors: [{ status: 400, description: 'No such ref, no configuration or a wrong one, or no jobs' }],
  handle: async ({ actor, project, body, request }, deps) => {
    const variables = (body.variables ?? []).map(({ key, value, variable_type: type }) => ({
      key,
      value,
      type,
    }));
    const made = await createPipeline(deps, actor, project, { ref: body.ref, source: 'api', variables });
    return pipelineDetail(deps, project, made, request.baseUrl);
  },
});

const retry = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_id/retry`,
  area,
  summary: 'Start again the jobs of a pipeline that failed or were cancelled',
  access: project('update_pipeline'),
  params: pipelineId,
  returns: { body: shapes.pipelineDetail },
  errors: [forbidden, absent, changed],
  handle: async ({ actor, project, params, request }, deps) =>
    pipelineDetail(
      deps,
      project,
      await pipelines.retryPipeline(deps, actor, project, params.pipeline_id),
      request.baseUrl,
    ),
});

const cancel = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_id/cancel`,
  area,
  summary: 'Cancel the jobs of a pipeline that have not ended',
  access: project('update_pipeline'),
  params: pipelineId,
  returns: { status: 200, body: shapes.pipelineDetail },
  errors: [forbidden, absent, changed],
  handle: async ({ actor, project, params, request }, deps) => {
    const cancelled = await pipelines.cancelPipeline(deps, actor, project, params.pipeline_id);
    return json(await pipelineDetail(deps, project, cancelled, request.baseUrl));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_id`,
  area,
  summary: 'Delete a pipeline',
  description: 'Its jobs are deleted soon afterwards.',
  access: project('destroy_pipeline'),
  params: pipelineId,
  returns: { status: 204 },
  errors: [absent, changed],
  handle: async ({ project, params, unmodifiedSince }, deps) => {
    await pipelines.deletePipeline(deps, project, params.pipeline_id, unmodifiedSince);
    return noContent();
  },
});

const variables = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id/variables`,
  area,
  summary: 'List the variables that a pipeline was given',
  access: project('read_pipeline_variables'),
  params: pipelineId,
  returns: { body: shapes.variables },
  errors: [absent],
  handle: async ({ project, params }, deps) => {
    const { id } = await pipelines.getPipeline(deps, project, params.pipeline_id);
    const given = await deps.store.jobs.variables(id);
    return given.map(({ key, value, type }) => ({ variable_type: type, key, value }));
  },
});

const testReport = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id/test_report`,
  area,
  summary: 'Get the report of the tests of a pipeline',
  description: 'Of the reports that its jobs have left as `artifacts:reports:junit`.',
  access: readers,
  params: pipelineId,
  returns: { body: shapes.testReport },
  errors: [absent],
  handle: async ({ actor, project, params, request }, deps) => {
    const { testSuites } = await import('../../domain/pipelines/test-reports.ts');
    const suites = await testSuites(deps, actor, project, params.pipeline_id);
    return presentTestReport(suites, projectUrl(project.project, request.baseUrl));
  },
});

const testReportSummary = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id/test_report_summary`,
  area,
  summary: 'Get the numbers of the tests of a pipeline',
  access: readers,
  params: pipelineId,
  returns: { body: shapes.testReportSummary },
  errors: [absent],
  handle: async ({ actor, project, params }, deps) => {
    const { testSuites } = await import('../../domain/pipelines/test-reports.ts');
    return presentSummary(await testSuites(deps, actor, project, params.pipeline_id));
  },
});

export const pipelineEndpoints = [
  ...[list, latest, create, get, retry, cancel, remove, variables],
  ...[testReport, testReportSummary],
];
