import type { TodoRecord } from '../../lib/records/todos.ts';
import { TODO_TARGET, todoKey, todoTargetKey } from '../../lib/store/row-keys/todos.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each pending to-do, and no other, is named by what it is about; each stands at the place of its state. */
export const todos = rowCheck(['todo', 'todo-target'], function* (rows) {
  const all = rows.of('TODOS#');
  const named = new Map(
    all.filter(({ sk }) => sk.startsWith(TODO_TARGET)).map((row) => [keyText(row), row['todoId'] as number]),
  );
  for (const row of all) {
    if (row.sk.startsWith(TODO_TARGET)) continue;
    const todo = row as unknown as Row & TodoRecord;
    const place = todoKey(todo.userId, todo.state, todo.id);
    if (keyText(place) !== keyText(row)) yield `${keyText(row)} is to-do ${todo.id}, ${todo.state}`;
    if (todo.state === 'done') continue;
    const name = keyText(todoTargetKey(todo.userId, todo.target));
    if (named.get(name) !== todo.id) yield `${name} names ${named.get(name)}, not to-do ${todo.id}`;
    named.delete(name);
  }
  for (const name of named.keys()) yield `${name} names a to-do that is not pending`;
});
