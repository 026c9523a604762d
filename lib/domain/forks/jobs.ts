import * as z from 'zod/mini';
import { UNLINK_JOB } from '../../store/forks/forks.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { FORK_ENDS_JOB, FORK_FILL_JOB, fillFork, giveUpFork } from './content.ts';
import { unlinkForks } from './visibility.ts';

export const jobs = [
  defineJob({
    name: UNLINK_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        before: textField(),
        actorId: z.exactOptional(z.nullable(idField())),
        baseUrl: z.exactOptional(z.string()),
      }),
    run: (deps, body, { deadline }) => unlinkForks(deps, body, deadline),
  }),
];

const orderBody = () => z.object({ projectId: idField(), sourceId: idField() });

/** Of the queue `forks`. */
export const forkJobs = [
  defineJob({ name: FORK_FILL_JOB, body: orderBody, run: fillFork }),
  defineJob({ name: FORK_ENDS_JOB, body: orderBody, run: giveUpFork }),
];
