import type { TodoState, TodoTarget } from '../../records/todos.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

const MAX_ID = 999_999_999_999;

/** The to-dos of a user. */
export const todosPartition = (userId: number): string => `TODOS#${padded(userId)}`;

export const todoPrefix = (state: TodoState): string => `${state.toUpperCase()}#`;

/** Sorts the newest first. */
export const todoKey = (userId: number, state: TodoState, id: number): Key => ({
  pk: todosPartition(userId),
  sk: todoPrefix(state) + padded(MAX_ID - id),
});

export const TODO_TARGET = 'TARGET#';

/** Names the pending to-do about something. */
export const todoTargetKey = (
  userId: number,
  { kind, id, projectId }: Pick<TodoTarget, 'kind' | 'id' | 'projectId'>,
): Key => ({
  pk: todosPartition(userId),
  sk: `${TODO_TARGET}${kind}#${kind === 'alert' ? `${padded(projectId)}#` : ''}${padded(id)}`,
});

export const rowKinds = [
  { name: 'todo', partitions: ['TODOS#'], keys: { todoKey }, of: ['user'] },
  { name: 'todo-target', partitions: ['TODOS#'], keys: { todoTargetKey }, of: ['user'] },
] as const satisfies readonly RowKind[];
