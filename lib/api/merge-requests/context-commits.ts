import {
  addContextCommits,
  contextCommits,
  removeContextCommits,
} from '../../domain/merge-requests/context-commits.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { commitBasic } from '../commits/present.ts';
import * as commitShapes from '../commits/shapes.ts';
import { endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { ofMergeRequest } from './params.ts';

const area = 'merge-request-merging';
const path = '/projects/:id/merge_requests/:merge_request_iid/context_commits' as const;
const access = project('read_merge_requests');
const absent = { status: 404, description: 'Merge request not found' };
const body = (description: string) => () =>
  p.params({ commits: p.list(p.string(), { required: true, blank: false, description }) });

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the context commits of a merge request',
  description: 'The newest first.',
  access,
  params: ofMergeRequest,
  returns: { body: commitShapes.commits },
  paginate: 'offset',
  errors: [absent],
  handle: async ({ actor, project: target, params, page, request }, deps) => {
    const found = await contextCommits(deps, actor, target, params.merge_request_iid);
    const url = projectUrl(target.project, request.baseUrl);
    const shown = found.slice(page.offset, page.offset + page.perPage);
    return { items: shown.map((commit) => commitBasic(commit, url)), total: found.length };
  },
});

const add = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Add context commits to a merge request',
  access,
  params: ofMergeRequest,
  body: body('Whole ids of at most 20 commits; a merge request has at most 100'),
  returns: { status: 201, body: commitShapes.commits },
  errors: [
    { status: 400, description: 'Too many commits, one that does not exist or that is there already' },
    absent,
    { status: 409, description: 'Others keep changing the merge request' },
  ],
  handle: async ({ actor, project: target, params, body: { commits }, request }, deps) => {
    const added = await addContextCommits(deps, actor, target, params.merge_request_iid, commits);
    const url = projectUrl(target.project, request.baseUrl);
    return json(
      added.map((commit) => commitBasic(commit, url)),
      { status: 201 },
    );
  },
});

const remove = endpoint({
  method: 'DELETE',
  path,
  area,
  summary: 'Remove context commits from a merge request',
  access,
  params: ofMergeRequest,
  body: body('Whole ids of commits'),
  returns: { status: 204 },
  errors: [
    { status: 400, description: 'One of them is no context commit of the merge request' },
    absent,
    { status: 409, description: 'Others keep changing the merge request' },
  ],
  handle: async ({ actor, project: target, params, body: { commits } }, deps) => {
    await removeContextCommits(deps, actor, target, params.merge_request_iid, commits);
    return noContent();
  },
});

export const mergeRequestContextCommitEndpoints = [list, add, remove];
