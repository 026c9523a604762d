import * as z from 'zod/mini';
import { defineJob, outcomeOf } from '../job.ts';
import { idField } from '../job-fields.ts';
import { movedProjectMails } from '../notifications/enqueue.ts';
import { moverField } from '../notifications/mover-field.ts';
import { NAMESPACE_MOVE_JOB } from './rename.ts';

export const jobs = [
  defineJob({
    name: NAMESPACE_MOVE_JOB,
    body: () => z.object({ userId: idField(), last: z._default(z.boolean(), false), mover: moverField() }),
    run: async ({ store }, { userId, last, mover }, { deadline }) =>
      outcomeOf(
        await store.personalNamespaces.moveProjects(userId, { deadline, last }, movedProjectMails(mover)),
      ),
  }),
];
