import * as z from 'zod';
import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import { listPipelines } from '../../domain/merge-requests/pipelines.ts';
import { createForMergeRequest } from '../../domain/pipelines/of-merge-requests.ts';
import { project } from '../../http/access.ts';
import { json } from '../../http/reply.ts';
import { shape } from '../../http/shape.ts';
import { pipelineBasic } from '../commits/present.ts';
import { pipeline } from '../commits/shapes.ts';
import { endpoint } from '../endpoint.ts';
import { pipelineDetail } from '../pipelines/present.ts';
import * as pipelineShapes from '../pipelines/shapes.ts';
import { projectUrl } from '../projects/present.ts';
import { ofMergeRequest } from './params.ts';

const area = 'pipelines';
const path = '/projects/:id/merge_requests/:merge_request_iid/pipelines' as const;
const absent = { status: 404, description: 'Merge request not found' };

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the pipelines of a merge request',
  description:
    'Its own, and those of the source branch for the heads of its newest 20 versions; the newest first.',
  access: project('read_pipelines'),
  params: ofMergeRequest,
  returns: { body: shape(() => z.array(pipeline())) },
  paginate: 'offset',
  errors: [absent],
  handle: async ({ actor, project, params, page, request }, deps) => {
    const found = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const { access, items } = await listPipelines(deps, actor, found);
    const url = access === undefined ? '' : projectUrl(access.project, request.baseUrl);
    const shown = items.slice(page.offset, page.offset + page.perPage);
    return { items: shown.map((each) => pipelineBasic(each, url)), total: items.length };
  },
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a pipeline for a merge request',
  description:
    'For its head, of jobs for merge requests. That of a merge request from a fork runs in the fork.',
  access: project('create_pipeline'),
  params: ofMergeRequest,
  returns: { status: 200, body: pipelineShapes.pipelineDetail },
  errors: [
    {
      status: 400,
      description: 'No configuration or a wrong one, no jobs, or not allowed in the source project',
    },
    absent,
    { status: 405, description: 'It has no commits, or its source project is hidden' },
  ],
  handle: async ({ actor, project, params, request }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const made = await createForMergeRequest(deps, actor, project, mergeRequest);
    return json(await pipelineDetail(deps, made.access, made.pipeline, request.baseUrl));
  },
});

export const mergeRequestPipelineEndpoints = [list, create];
