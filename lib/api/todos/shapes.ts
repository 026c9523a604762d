import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { TODO_ACTIONS } from '../../records/todos.ts';
import { alertFields } from '../alerts/shapes.ts';
import * as issueShapes from '../issues/shapes.ts';
import * as mergeRequestShapes from '../merge-requests/shapes.ts';
import { identityFields } from '../projects/identity-shapes.ts';
import * as userShapes from '../users/shapes.ts';

const alertTarget = shape(() =>
  z.object({ ...alertFields(), web_url: z.string() }).meta({ id: 'AlertOfTodo' }),
);

export const todo = shape(() =>
  z
    .object({
      id: z.int(),
      project: z.object(identityFields()),
      author: userShapes.userBasic(),
      action_name: z.enum(TODO_ACTIONS),
      target_type: z.enum(['Issue', 'MergeRequest', 'AlertManagement::Alert']),
      target: z.union([issueShapes.issueBasic(), mergeRequestShapes.mergeRequestBasic(), alertTarget()]),
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
    .meta({ id: 'Todo' }),
);
export const todos = shape(() => z.array(todo()));
