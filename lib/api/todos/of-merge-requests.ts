import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import { markTarget, targetOf } from '../../domain/todos/todos.ts';
import { project } from '../../http/access.ts';
import { json, notModified } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { ofMergeRequest } from '../merge-requests/params.ts';
import { presentMergeRequests } from './merge-request-targets.ts';
import { presentTodos } from './present.ts';
import * as shapes from './shapes.ts';

const markOne = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/todo',
  area: 'merge-requests',
  summary: 'Create a to-do about a merge request',
  access: project('read_merge_requests'),
  params: ofMergeRequest,
  returns: { body: shapes.todo, description: 'The new to-do' },
  errors: [
    { status: 304, description: 'There is one' },
    { status: 404, description: 'Merge request not found' },
  ],
  handle: async ({ actor, project, params, request: { baseUrl } }, deps) => {
    const found = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const todo = await markTarget(deps, actor, targetOf('merge-request', found.mergeRequest));
    if (todo === undefined) return notModified();
    const shown = { ...found, kind: 'merge-request', todo, author: actor.user } as const;
    const [presented] = await presentTodos(deps, actor, [shown], baseUrl, {
      'merge-request': presentMergeRequests,
    });
    return json(presented, { status: 201 });
  },
});

export const mergeRequestTodoEndpoints = [markOne];
