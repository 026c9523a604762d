import * as z from 'zod/mini';
import { continuedWith, defineJob } from '../job.ts';
import { DORMANT_JOB, deactivateDormant } from './dormant.ts';

export const jobs = [
  defineJob({
    name: DORMANT_JOB,
    body: () => z.object({ after: z._default(z.number(), 0) }),
    run: async (deps, body, { deadline }) => continuedWith(await deactivateDormant(deps, body, deadline)),
  }),
];
