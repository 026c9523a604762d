import * as z from 'zod';
import type { Actor } from '../../domain/actor.ts';
import { shownIssues } from '../../domain/issues/related.ts';
import {
  finishAll,
  finishTodo,
  listTodos,
  markIssue,
  notesOf,
  type ShownTodo,
} from '../../domain/todos/todos.ts';
import { project, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent, notModified } from '../../http/reply.ts';
import { shape } from '../../http/shape.ts';
import { TODO_ACTIONS } from '../../records/todos.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { ofIssue } from '../issues/params.ts';
import { presentIssue } from '../issues/present.ts';
import * as issueShapes from '../issues/shapes.ts';
import { userBasic } from '../users/present.ts';
import * as userShapes from '../users/shapes.ts';

const area = 'todos';

const shown = () =>
  z
    .object({
      id: z.int(),
      project: z.object({
        id: z.int(),
        description: z.string().nullable(),
        name: z.string(),
        name_with_namespace: z.string(),
        path: z.string(),
        path_with_namespace: z.string(),
        created_at: z.string(),
      }),
      author: userShapes.userBasic(),
      action_name: z.enum(TODO_ACTIONS),
      target_type: z.literal('Issue'),
      target: issueShapes.issueBasic(),
      target_url: z.string(),
      body: z
        .string()
        .describe(
          'Text of the note that caused it; otherwise, and for a note above 32 KB, the title of its target',
        ),
      state: z.enum(['pending', 'done']),
      created_at: z.string(),
      updated_at: z.string(),
    })
    .meta({ id: 'Todo' });
const todoShape = shape(shown);

const TARGET_TYPES = [
  'Issue',
  'MergeRequest',
  'Commit',
  'Epic',
  'DesignManagement::Design',
  'AlertManagement::Alert',
];

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
  returns: { body: shape(() => z.array(shown())) },
  paginate: 'offset',
  handle: async ({ actor, query, page, request: { baseUrl } }, deps) => {
    const found = await listTodos(deps, actor, {
      ...counted(page),
      state: query.state,
      action: query.action,
      authorId: query.author_id,
      projectId: query.project_id,
      groupId: query.group_id,
      none: query.type !== undefined && query.type !== 'Issue',
    });
    return { ...found, items: await present(deps, actor, found.items, baseUrl) };
  },
});

const finishOne = endpoint({
  method: 'POST',
  path: '/todos/:id/mark_as_done',
  area,
  summary: 'Update a to-do: it is done',
  access: signedIn(),
  params: () => p.params({ id: p.routeInteger({ description: 'ID of the to-do' }) }),
  returns: { body: todoShape },
  errors: [{ status: 404, description: 'There is no such to-do' }],
  handle: async ({ actor, params, request: { baseUrl } }, deps) => {
    const [shown] = await present(deps, actor, [await finishTodo(deps, actor, params.id)], baseUrl);
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

const markOne = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/todo',
  area,
  summary: 'Create a to-do about an issue',
  access: project('read_issues'),
  params: ofIssue,
  returns: { body: todoShape, description: 'The new to-do' },
  errors: [
    { status: 304, description: 'There is one' },
    { status: 404, description: 'Issue not found' },
  ],
  handle: async ({ actor, project, params, request: { baseUrl } }, deps) => {
    const todo = await markIssue(deps, actor, project, params.issue_iid);
    if (todo === undefined) return notModified();
    const [shown] = await present(deps, actor, [todo], baseUrl);
    return json(shown, { status: 201 });
  },
});

export const todoEndpoints = [list, finishOne, finishEach];
export const issueTodoEndpoints = [markOne];

async function present(deps: ApiDeps, actor: Actor, todos: readonly ShownTodo[], baseUrl: string) {
  const [issues, notes] = await Promise.all([
    shownIssues(deps, actor, todos),
    notesOf(
      deps,
      todos.map(({ todo }) => todo),
    ),
  ]);
  return todos.map(({ todo, author, access: { project } }, i) => {
    const target = presentIssue(issues[i]!, baseUrl, { kind: 'project', id: project.id });
    return {
      id: todo.id,
      project: {
        id: project.id,
        description: project.description,
        name: project.name,
        name_with_namespace: `${project.namespaceName} / ${project.name}`,
        path: project.path,
        path_with_namespace: project.fullPath,
        created_at: project.createdAt,
      },
      author: userBasic(author, baseUrl),
      action_name: todo.action,
      target_type: 'Issue' as const,
      target,
      target_url: todo.note === undefined ? target.web_url : `${target.web_url}#note_${todo.note.id}`,
      body: notes[i] ?? target.title,
      state: todo.state,
      created_at: todo.createdAt,
      updated_at: todo.updatedAt,
    };
  });
}
