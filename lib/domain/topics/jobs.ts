import * as z from 'zod/mini';
import { ASSIGN_TOPICS_JOB } from '../../store/topics/assignments.ts';
import { FOLLOW_TOPIC_JOB } from '../../store/topics/topics.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';

/** Delay before the index is read again: it may have been late. */
const AGAIN_MS = 60_000;

export const jobs = [
  defineJob({
    name: ASSIGN_TOPICS_JOB,
    body: () => z.object({ projectId: idField() }),
    run: ({ store, now }, { projectId }) => store.topicAssignments.assign(projectId, now()),
  }),
  defineJob({
    name: FOLLOW_TOPIC_JOB,
    body: () =>
      z.object({
        topicId: idField(),
        /** Id of the project behind which to go on. */
        after: z._default(z.int(), 0),
        /** Whether the index is read for the second time. */
        again: z._default(z.boolean(), false),
      }),
    async run({ store }, { topicId, after, again }, { deadline }) {
      const rest = await store.topicAssignments.follow(topicId, after, deadline);
      if (rest !== undefined) return { body: { topicId, after: rest, again } };
      return again ? undefined : { body: { topicId, again: true }, delayMs: AGAIN_MS };
    },
  }),
];
