import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { REFRESH_ALL_JOB, REFRESH_JOB, refreshAll, refreshList } from './refresh.ts';

export const jobs = [
  defineJob({
    name: REFRESH_ALL_JOB,
    body: () => z.object({}),
    run: (deps) => refreshAll(deps),
  }),
  defineJob({
    name: REFRESH_JOB,
    body: () => z.object({ groupId: idField() }),
    run: (deps, { groupId }) => refreshList(deps, groupId),
  }),
];
