import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { DELETE_MERGED_JOB, deleteMerged } from './branches.ts';

export const jobs = [
  defineJob({
    name: DELETE_MERGED_JOB,
    body: () => z.object({ projectId: idField(), userId: z.optional(idField()) }),
    run: (deps, { projectId, userId }) => deleteMerged(deps, { projectId, userId }),
  }),
];
