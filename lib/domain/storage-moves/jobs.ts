import * as z from 'zod/mini';
import { MOVED_KINDS } from '../../records/storage-moves.ts';
import { continuedWith, defineJob, outcomeOf } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { CLEAN_JOB, cleanUp, runMove } from './run.ts';
import { MOVE_JOB, SCHEDULE_JOB, scheduleAll } from './schedule.ts';

const kindField = () => z.enum(MOVED_KINDS);
const repositoriesField = () => z.array(z.object({ repositoryId: textField(), networkId: textField() }));
const moveFields = () => ({
  kind: kindField(),
  id: idField(),
  subjectId: idField(),
  repositories: repositoriesField(),
});

export const jobs = [
  defineJob({
    name: MOVE_JOB,
    body: () => z.object({ ...moveFields(), from: z.string(), to: textField() }),
    run: async (deps, body, { deadline, lastDelivery }) =>
      outcomeOf(await runMove(deps, body, { deadline, lastTry: lastDelivery })),
  }),
  defineJob({
    name: CLEAN_JOB,
    body: () =>
      z.object({
        ...moveFields(),
        place: z.string(),
        givenUp: z.array(z.object({ repositoryId: textField(), id: textField(), location: textField() })),
      }),
    run: async (deps, body, { deadline, lastDelivery }) =>
      outcomeOf(await cleanUp(deps, body, { deadline, lastTry: lastDelivery })),
  }),
  defineJob({
    name: SCHEDULE_JOB,
    body: () =>
      z.object({
        kind: kindField(),
        source: textField(),
        destination: z.exactOptional(textField()),
        after: z._default(z.int(), 0),
        last: z.exactOptional(z.int()),
      }),
    run: async (deps, body, { deadline }) => continuedWith(await scheduleAll(deps, body, deadline)),
  }),
];
