import { codeOf, resolved } from '../../domain/repository/read.ts';
import { project } from '../../http/access.ts';
import { commitSha } from '../commits/params.ts';
import { counted, endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const ofCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/merge_requests',
  area: 'commits',
  summary: 'List the merge requests of a commit',
  description:
    'Those of the project that propose it with their latest version, or whose merge made it; the newest first.',
  access: project('read_history'),
  params: commitSha,
  returns: { body: shapes.mergeRequests },
  paginate: 'offset',
  noun: 'Merge Request',
  errors: [{ status: 404, description: 'Commit not found' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project: access, params, page, request }, deps) => {
    // Few requests to this function show merge requests.
    const [{ commit }, { newestMergeRequests }] = await Promise.all([
      resolved(codeOf(deps, access), params.sha),
      import('./newest.ts'),
    ]);
    const asked = { scope: { kind: 'project', access }, commitSha: commit } as const;
    return newestMergeRequests(deps, actor, asked, counted(page), request.baseUrl);
  },
});

export const mergeRequestOfCommitEndpoints = [ofCommit];
