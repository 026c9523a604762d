import * as z from 'zod/mini';
import { MOVE_JOB } from '../../store/groups/groups.ts';
import { defineJob, outcomeOf } from '../job.ts';
import { idField } from '../job-fields.ts';
import { movedProjectMails } from '../notifications/enqueue.ts';
import { moverField } from '../notifications/mover-field.ts';

export const jobs = [
  defineJob({
    name: MOVE_JOB,
    body: () => z.object({ groupId: idField(), mover: moverField() }),
    run: async ({ store }, { groupId, mover }, { deadline }) =>
      outcomeOf(await store.groupMoves.moveDescendants(groupId, deadline, movedProjectMails(mover))),
  }),
];
