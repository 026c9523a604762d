import { getIssue } from '../../domain/issues/issues.ts';
import { markTarget, targetOf } from '../../domain/todos/todos.ts';
import { project } from '../../http/access.ts';
import { json, notModified } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { ofIssue } from '../issues/params.ts';
import { presentIssues } from './issue-targets.ts';
import { presentTodos } from './present.ts';
import * as shapes from './shapes.ts';

const markOne = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/todo',
  area: 'issues',
  summary: 'Create a to-do about an issue',
  access: project('read_issues'),
  params: ofIssue,
  returns: { body: shapes.todo, description: 'The new to-do' },
  errors: [
    { status: 304, description: 'There is one' },
    { status: 404, description: 'Issue not found' },
  ],
  handle: async ({ actor, project, params, request: { baseUrl } }, deps) => {
    const found = await getIssue(deps, actor, project, params.issue_iid);
    const todo = await markTarget(deps, actor, targetOf('issue', found.issue));
    if (todo === undefined) return notModified();
    const shown = { ...found, kind: 'issue', todo, author: actor.user } as const;
    const [presented] = await presentTodos(deps, actor, [shown], baseUrl, { issue: presentIssues });
    return json(presented, { status: 201 });
  },
});

export const issueTodoEndpoints = [markOne];
