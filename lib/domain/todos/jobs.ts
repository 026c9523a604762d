import * as z from 'zod/mini';
import { ADD_TODOS_JOB, FINISH_TODOS_JOB } from '../../store/todos/todos.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { formerField } from '../notifications/former-field.ts';
import { addTodos } from './causes.ts';

export const jobs = [
  defineJob({
    name: ADD_TODOS_JOB,
    body: () =>
      z.object({
        kind: z.exactOptional(z.enum(['issue', 'merge-request', 'alert'])),
        projectId: idField(),
        iid: idField(),
        authorId: idField(),
        assignedIds: z.array(idField()),
        reviewerIds: z.exactOptional(z.array(idField())),
        approvalRules: z.exactOptional(z.union([z.literal('all'), z.array(idField())])),
        unmergeable: z.exactOptional(z.boolean()),
        failedSha: z.exactOptional(textField()),
        described: z.boolean(),
        finished: z.boolean(),
        releasedIds: z.exactOptional(z.array(idField())),
        noteId: z.exactOptional(idField()),
        former: z.exactOptional(formerField()),
        from: z.exactOptional(z.object({ source: z.number(), after: idField() })),
      }),
    run: async (deps, body, { messageId, deadline }) =>
      continuedWith(await addTodos(deps, body, messageId, deadline)),
  }),
  defineJob({
    name: FINISH_TODOS_JOB,
    body: () => z.object({ userId: idField(), upTo: idField() }),
    run: async (deps, { userId, upTo }, { deadline }) => {
      for await (const todo of deps.store.todos.ofUser(userId, 'pending', 100)) {
        if (todo.id > upTo) continue;
        if (Date.now() > deadline) return false;
        await deps.store.todos.finish([todo], deps.now());
      }
      return true;
    },
  }),
];
