import * as z from 'zod';
import { cancelAutoMerge, mergeMergeRequest } from '../../domain/merge-requests/merge.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { shape } from '../../http/shape.ts';
import { endpoint } from '../endpoint.ts';
import { ofMergeRequest } from './params.ts';
import { presentedMergeRequest } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'merge-request-merging';
const path = '/projects/:id/merge_requests/:merge_request_iid';
const access = project('read_merge_requests');
const params = ofMergeRequest;
const absent = { status: 404, description: 'Merge request not found' };

const merge = endpoint({
  method: 'PUT',
  path: `${path}/merge`,
  area,
  summary: 'Merge a merge request',
  description: 'At once, or when the pipeline of its head has succeeded.',
  access,
  params,
  body: () =>
    p.params({
      merge_commit_message: p.string({ description: 'Message of the merge commit' }),
      squash_commit_message: p.string({ description: 'Message of the squashed commit' }),
      squash: p.boolean({ description: 'Make one commit of all, where the project lets one choose' }),
      should_remove_source_branch: p.boolean({ description: 'Remove the source branch' }),
      merge_when_pipeline_succeeds: p.boolean({
        default: false,
        description: 'Merge when the pipeline of the head has succeeded',
      }),
      sha: p.string({ description: 'Head that the source branch must have' }),
    }),
  returns: { body: shapes.mergeRequest },
  errors: [
    { status: 401, description: 'You may not merge into the target branch' },
    absent,
    {
      status: 405,
      description: 'It is not open or a draft, or waits for approvals, discussions or a pipeline',
    },
    { status: 406, description: 'Its commits cannot be merged' },
    { status: 409, description: 'The source branch has another head, or others keep changing it' },
  ],
  handle: async ({ actor, project: target, params: { merge_request_iid }, body, request }, deps) => {
    const merged = await mergeMergeRequest(deps, actor, target, merge_request_iid, {
      mergeMessage: body.merge_commit_message ?? null,
      squashMessage: body.squash_commit_message ?? null,
      squash: body.squash ?? null,
      removeSource: body.should_remove_source_branch ?? null,
      whenPipelineSucceeds: body.merge_when_pipeline_succeeds,
      sha: body.sha,
    });
    return presentedMergeRequest(deps, actor, merged, request.baseUrl);
  },
});

const cancel = endpoint({
  method: 'POST',
  path: `${path}/cancel_merge_when_pipeline_succeeds`,
  area,
  summary: 'Cancel the automatic merge of a merge request',
  access,
  params,
  returns: { body: shapes.mergeRequest },
  errors: [
    { status: 401, description: 'You may not merge into the target branch, and did not ask for the merge' },
    absent,
    { status: 406, description: 'It is not to be merged when its pipeline succeeds' },
  ],
  handle: async ({ actor, project: target, params: { merge_request_iid }, request }, deps) =>
    presentedMergeRequest(
      deps,
      actor,
      await cancelAutoMerge(deps, actor, target, merge_request_iid),
      request.baseUrl,
    ),
});

const rebase = endpoint({
  method: 'PUT',
  path: `${path}/rebase`,
  area,
  summary: 'Request a rebase of a merge request',
  description: 'A worker rebases the source branch onto the target branch.',
  access,
  params,
  body: () =>
    p.params({
      skip_ci: p.boolean({ default: false, description: 'Skip the pipeline of the rebased branch' }),
    }),
  returns: { status: 202, body: shape(() => z.object({ rebase_in_progress: z.boolean() })) },
  errors: [
    { status: 403, description: 'You may not push to the source branch, or it does not exist' },
    absent,
    { status: 405, description: 'It is not open' },
    { status: 409, description: 'It is being rebased' },
  ],
  handle: async ({ actor, project: target, params: { merge_request_iid }, body }, deps) => {
    const { requestRebase } = await import('../../domain/merge-requests/rebase.ts');
    await requestRebase(deps, actor, target, merge_request_iid, { skipCi: body.skip_ci });
    return json({ rebase_in_progress: true }, { status: 202 });
  },
});

const mergeRef = endpoint({
  method: 'GET',
  path: `${path}/merge_ref`,
  area,
  summary: 'Get the commit of a merge that is tried out',
  description: 'Lets `refs/merge-requests/:merge_request_iid/merge` point to a merge of both branches.',
  access,
  params,
  returns: { body: shape(() => z.object({ commit_id: z.string() })) },
  errors: [
    { status: 400, description: 'It cannot be merged' },
    absent,
    { status: 409, description: 'Others keep moving its branches' },
  ],
  handle: async ({ actor, project: target, params: { merge_request_iid } }, deps) => {
    const { writeMergeRef } = await import('../../domain/merge-requests/merge-ref.ts');
    return { commit_id: await writeMergeRef(deps, actor, target, merge_request_iid) };
  },
});

export const mergeRequestMergingEndpoints = [merge, cancel, rebase, mergeRef];
