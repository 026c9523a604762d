import type { Actor } from '../../domain/actor.ts';
import { notesOf, type ShownTodo } from '../../domain/todos/todos.ts';
import type { ApiDeps } from '../endpoint.ts';
import { projectIdentity } from '../projects/identity.ts';
import { userBasic } from '../users/present.ts';

type Kind = ShownTodo['kind'];
type OfKind<K extends Kind> = Extract<ShownTodo, { readonly kind: K }>;
type Target = { readonly title: string; readonly web_url: string };

/** Presents the targets of one kind, in their order. */
export type TargetPresenter<K extends Kind> = (
  deps: ApiDeps,
  actor: Actor,
  found: readonly OfKind<K>[],
  baseUrl: string,
) => Promise<readonly Target[]>;

/** What presents targets, by their kind: a function has those of the kinds that it shows. */
export type TargetPresenters = { readonly [K in Kind]?: TargetPresenter<K> };

const TYPES = {
  issue: 'Issue',
  'merge-request': 'MergeRequest',
  alert: 'AlertManagement::Alert',
} as const satisfies Record<Kind, string>;

export async function presentTodos(
  deps: ApiDeps,
  actor: Actor,
  todos: readonly ShownTodo[],
  baseUrl: string,
  presenters: TargetPresenters,
) {
  const presented = async <K extends Kind>(kind: K) => {
    const found = todos.filter((each): each is OfKind<K> => each.kind === kind);
    const targets = found.length === 0 ? [] : await presenters[kind]!(deps, actor, found, baseUrl);
    return found.map(({ todo }, i) => [todo.id, targets[i]!] as const);
  };
  const [issues, mergeRequests, alerts, notes] = await Promise.all([
    presented('issue'),
    presented('merge-request'),
    presented('alert'),
    notesOf(
      deps,
      todos.map(({ todo }) => todo),
    ),
  ]);
  const targets = new Map([...issues, ...mergeRequests, ...alerts]);
  return todos.map(({ kind, todo, author, access: { project } }, i) => {
    const target = targets.get(todo.id)!;
    return {
      id: todo.id,
      project: projectIdentity(project),
      author: userBasic(author, baseUrl),
      action_name: todo.action,
      target_type: TYPES[kind],
      target,
      target_url: todo.note === undefined ? target.web_url : `${target.web_url}#note_${todo.note.id}`,
      body: notes[i] ?? target.title,
      state: todo.state,
      created_at: todo.createdAt,
      updated_at: todo.updatedAt,
    };
  });
}
