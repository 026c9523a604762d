import { finishAll, finishTodo, listTodos } from '../../domain/todos/todos.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { TODO_ACTIONS, type TodoTarget } from '../../records/todos.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { presentAlerts } from './alert-targets.ts';
import { presentIssues } from './issue-targets.ts';
import { presentMergeRequests } from './merge-request-targets.ts';
import { presentTodos } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'todos';

const TARGET_TYPES = [
  'Issue',
  'MergeRequest',
  'Commit',
  'Epic',
  'DesignManagement::Design',
  'AlertManagement::Alert',
];

/** Nothing makes to-dos about the others. */
const KINDS: Readonly<Record<string, TodoTarget['kind'] | undefined>> = {
  Issue: 'issue',
  MergeRequest: 'merge-request',
  'AlertManagement::Alert': 'alert',
};

const presenters = { issue: presentIssues, 'merge-request': presentMergeRequests, alert: presentAlerts };

const list = endpoint({
  method: 'GET',
  path: '/todos',
  area,
  summary: 'List your to-dos',
  description: 'The newest first; without those about what you may no longer see.',
  access: signedIn(),
  query: () =>
    p.params({
      action: p.oneOf(TODO_ACTIONS, { description: 'Why it was created' }),
      author_id: p.integer({ description: 'ID of the user who caused it' }),
      project_id: p.integer({ description: 'ID of the project of its target' }),
      group_id: p.integer({ description: 'ID of a group above the project of its target' }),
      state: p.oneOf(['pending', 'done'], { default: 'pending', description: 'State' }),
      type: p.oneOf(TARGET_TYPES, { description: 'Type of its target' }),
    }),
  returns: { body: shapes.todos },
  ...BY_ROWS,
  handle: async ({ actor, query, page, request: { baseUrl } }, deps) => {
    const found = await listTodos(deps, actor, {
      ...counted(page),
      state: query.state,
      action: query.action,
      authorId: query.author_id,
      projectId: query.project_id,
      groupId: query.group_id,
      kind: query.type === undefined ? undefined : (KINDS[query.type] ?? 'none'),
    });
    return { ...found, items: await presentTodos(deps, actor, found.items, baseUrl, presenters) };
  },
});

const finishOne = endpoint({
  method: 'POST',
  path: '/todos/:id/mark_as_done',
  area,
  summary: 'Update a to-do: it is done',
  access: signedIn(),
  params: () => p.params({ id: p.routeInteger({ description: 'ID of the to-do' }) }),
  returns: { body: shapes.todo },
  errors: [{ status: 404, description: 'There is no such to-do' }],
  handle: async ({ actor, params, request: { baseUrl } }, deps) => {
    const done = await finishTodo(deps, actor, params.id);
    const [shown] = await presentTodos(deps, actor, [done], baseUrl, presenters);
    return shown;
  },
});

const finishEach = endpoint({
  method: 'POST',
  path: '/todos/mark_as_done',
  area,
  summary: 'Update all of your to-dos: they are done',
  access: signedIn(),
  returns: { status: 204 },
  handle: async ({ actor }, deps) => {
    await finishAll(deps, actor);
    return noContent();
  },
});

export const todoEndpoints = [list, finishOne, finishEach];
