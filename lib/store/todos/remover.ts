import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Todos } from './todos.ts';

export const remover: Remover<{ readonly todos: Todos }> = {
  ofUser: {
    rows: ['todo', 'todo-target'],
    run: ({ todos }, { userId }, deadline) => untilNoneLeft(() => todos.removeOfUser(userId), deadline),
  },
};
